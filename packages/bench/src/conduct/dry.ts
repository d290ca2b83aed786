import { describePlan } from 'bench-report/plan';
import { probing, withOptions, type ResolvedRequest } from './resolve.ts';

/** Describes the plan of a request. If its rate is measured first, the description includes the run that measures it. */
export function describeDry(request: ResolvedRequest): string {
  const { raw, options, outline } = request;
  if (!raw.autoRate) return `${describePlan(outline)}\n`;
  const probe = withOptions(request, probing(options)).outline;
  const first = `first, to find the rate: ${describePlan(probe).split('\n\n')[0]}`;
  return `${first}\n\nthen: ${describePlan(outline, 'open loop at half of the slowest goodput')}\n`;
}

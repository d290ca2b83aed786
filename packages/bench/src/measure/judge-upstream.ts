import { METRIC_IDS, type MetricId } from '../metrics.ts';
import type { Limit, LoadResult, Placement, Reason, UpstreamUse } from '../model.ts';

/** A share of a core, or of its budget, from which on it counts as used up. */
export const FULL = 0.9;
/** What depends on how fast requests are sent and answered. */
export const RATES: MetricId[] = ['goodput', 'p50', 'p99'];
/** From the memory of the same machine, with nothing else to do, a fixture takes some ms at the most. */
const SLOW_US = 50_000;

/** What an upstream is judged by. */
export interface UpstreamEvidence extends UpstreamUse {
  /** What one right answer takes of it, in requests. */
  fetches: number;
  placement: Placement;
}

/** Whether it used up its core: its one process, or what generators on the same cores left of them and less than it took. */
export function isUpstreamFull({ resources, placement }: UpstreamEvidence, load: LoadResult): boolean {
  if (resources === undefined) return false;
  const { coresUsed } = resources;
  const { upstream = [], generator = [] } = placement;
  const isShared = placement.kind === 'separate' && upstream.every((core) => generator.includes(core));
  return isShared ? takesTheRest(coresUsed, generator, load) : coresUsed >= FULL;
}

/** Whether what runs on the generators' cores took what they left of them, and that was more than they had. */
export function takesTheRest(coresUsed: number, cores: readonly number[], load: LoadResult): boolean {
  const generators = coresOfLoad(load);
  return coresUsed >= generators && coresUsed + generators >= FULL * cores.length;
}

/** What all generators used together. */
export function coresOfLoad({ generators }: LoadResult): number {
  return generators.reduce((sum, { cpuUs, seconds }) => sum + cpuUs / 1e6 / seconds, 0);
}

/** What the upstream says against a window: that it was not asked as often as it had to be, that it failed, that it was the limit. */
export function judgeUpstream(
  { upstream, load }: { upstream?: UpstreamEvidence | undefined; load: LoadResult },
  limit: Limit,
): { fatal: Reason[]; doubts: Reason[] } {
  if (upstream === undefined) return { fatal: [], doubts: [] };
  return {
    fatal: judgeCount(upstream, load),
    doubts: [...judgeFailures(load), ...judgePace(upstream), ...judgeLimit(upstream, limit)],
  };
}

/** Exact where every request was answered rightly; any other may have asked for none or for all of its fixtures. */
function judgeCount({ requests, fetches }: UpstreamEvidence, { lifetime }: LoadResult): Reason[] {
  if (lifetime === undefined) return [];
  const { ok, sent } = lifetime;
  const [least, most] = [ok * fetches, sent * fetches];
  if (requests >= least && requests <= most) return [];
  const answered = `${figure(ok)} answers of ${fetches} fixtures each`;
  const text =
    requests < least
      ? `${answered}, but the upstream was asked only ${figure(requests)} times: not every answer was fetched (a cache?)`
      : `${answered}, but the upstream was asked ${figure(requests)} times: more than it takes`;
  return [{ code: 'upstream-count', text, invalidates: [...METRIC_IDS] }];
}

function judgeFailures({ statusCodes = {} }: LoadResult): Reason[] {
  const failed = statusCodes[502] ?? 0;
  if (failed === 0) return [];
  return [
    {
      code: 'upstream-failed',
      text: `${figure(failed)} requests were answered with 502: the upstream failed the server`,
      invalidates: METRIC_IDS.filter((metric) => metric !== 'startup'),
    },
  ];
}

function judgePace({ fetchUs }: UpstreamEvidence): Reason[] {
  if (fetchUs <= SLOW_US) return [];
  return [
    {
      code: 'upstream-slow',
      text: `the upstream took ${Math.round(fetchUs / 1000)} ms over one fixture while nothing loaded it: the server waited for it`,
      invalidates: RATES,
    },
  ];
}

function judgeLimit({ resources, placement }: UpstreamEvidence, limit: Limit): Reason[] {
  if (limit !== 'upstream') return [];
  const where = placement.upstream === undefined ? '' : ` of core ${placement.upstream.join(',')}`;
  return [
    {
      code: 'upstream-bound',
      text: `the upstream used ${resources?.coresUsed.toFixed(2)} cores${where}: goodput is a lower bound, latency is the upstream's`,
      invalidates: RATES,
    },
  ];
}

function figure(count: number): string {
  return count.toLocaleString('en-US');
}

import type { Placement } from '../model.ts';
import { unlikeHosts } from '../results/host.ts';
import type { StoredRun } from '../results/store.ts';

/** The factors in which two runs may be declared to differ on purpose. */
export const FACTORS = ['workers', 'engine', 'background', 'upstream'] as const;
export type Factor = (typeof FACTORS)[number];

/**
 * What forbids to compare two runs, in words; empty when they are alike. `across` names the one factor that is meant
 * to differ. The momentary load of the hosts is no difference.
 */
export function unlikeRuns(old: StoredRun, now: StoredRun, across: Factor | undefined): string[] {
  const differences: string[] = [];
  const compare = (what: string, of: (run: StoredRun) => string | number | undefined): void => {
    const [then, here] = [of(old), of(now)];
    if (then !== here && what !== across)
      differences.push(`${what}: ${then ?? 'none'} and ${here ?? 'none'}`);
  };
  compare('workload', ({ plan }) => plan.workload);
  compare('rungs', ({ plan }) => plan.rungs.join(', '));
  compare('timeout', ({ plan }) => plan.timeoutSeconds);
  compare('window', ({ plan }) => plan.amount ?? plan.windowSeconds);
  compare('warm-up', ({ plan }) => plan.warmupSeconds);
  compare('workers', ({ plan }) => plan.workers);
  compare('generators', ({ plan }) => plan.generators);
  compare('engine', ({ plan }) => plan.engine);
  compare('placement', ({ trials: [first] }) => describePlacement(first?.placement));
  return [...differences, ...unlikeHosts(old.host, now.host)];
}

function describePlacement(placement: Placement | undefined): string | undefined {
  if (placement === undefined) return undefined;
  return [placement.kind, placement.server?.length, placement.generator?.length]
    .filter((part) => part !== undefined)
    .join(' ');
}

/** The upgrades of runtimes that stored runs hold. */
import { compareUpgrades, type Upgrade } from 'bench-analysis/upgrades';
import type { StoredRun } from 'bench-analysis/results/store';
import { startOf } from 'bench-analysis/runs';
import type { Host } from 'bench-model/host';
import { METRIC_IDS, type MetricId } from 'bench-model/metrics';
import { thresholdFor } from 'bench-model/options';
import { describeVerdict } from '../compare.ts';
import { describeWorkload } from '../plan.ts';

/** An upgrade in a stored run, by one metric. */
export interface SiteUpgrade extends Upgrade {
  by: MetricId;
  machine: string;
  workload: string;
  run: string;
  startedAt: string;
  /** Its verdict. */
  words: string;
}

/**
 * Lists the upgrades that these runs compare round by round, in the order of time. Runs are never joined: only servers of one
 * run have an interval. Left out are quick runs, and those with too few rounds for an interval.
 */
export function toUpgrades(runs: readonly StoredRun[], nameMachine: (host: Host) => string): SiteUpgrade[] {
  const all = runs.flatMap((run) => {
    const startedAt = startOf(run);
    if (startedAt === undefined || run.plan.quick) return [];
    const place = { machine: nameMachine(run.host), workload: describeWorkload(run.plan), run: run.plan.run };
    return METRIC_IDS.flatMap((by) =>
      compareUpgrades(run, { by, threshold: thresholdFor(by) })
        .filter(({ comparison: { ratio } }) => ratio?.interval !== undefined)
        .map((one): SiteUpgrade => ({ ...one, ...place, by, startedAt, words: describeVerdict(one) })),
    );
  });
  return all.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
}

/** The data of the index over stored runs, with the words that need no browser. */
import { METRIC_IDS, type MetricId } from 'bench-model/metrics';
import { sum } from 'bench-statistics/numbers';
import type { StoredRun } from 'bench-analysis/results/store';
import { trackRun } from 'bench-analysis/due';
import { startOf } from 'bench-analysis/runs';
import { countOf } from '../format.ts';
import { describeWorkload } from '../plan.ts';
import type { Cover } from './cover.ts';
import { nameMachines, toHistories, type History } from './history.ts';
import { toUpgrades, type SiteUpgrade } from './upgrades.ts';

/** A stored run, and its report. */
export interface SiteRun {
  run: string;
  /** The address of its report, relative to the index. */
  href: string;
  startedAt?: string;
  machine: string;
  workload: string;
  rungs: number[];
  targets: string[];
  rounds: { measured: number; planned: number };
  statuses: Record<'ok' | 'suspect' | 'failed', number>;
  quick: boolean;
  cover?: Cover;
}

/** A folder of the results that the index does not show, and why. */
export interface Skipped {
  name: string;
  reason: string;
}

/** Everything that the index shows. */
export interface Site {
  title: string;
  /** The metric that the page opens with. */
  metric: MetricId;
  metrics: MetricId[];
  /** The newest first. */
  runs: SiteRun[];
  histories: History[];
  upgrades: SiteUpgrade[];
  skipped: Skipped[];
}

/** A stored run with the name of its report, and its cover. */
export interface Listed {
  run: StoredRun;
  href: string;
  cover?: Cover | undefined;
}

/** Builds the data of the index. */
export function toSite(listed: readonly Listed[], skipped: Skipped[]): Site {
  const all = listed.map(({ run }) => run);
  const nameMachine = nameMachines(all.map(({ host }) => host));
  const histories = toHistories(all, nameMachine);
  const points = histories.flatMap((history) => history.points);
  const metrics = METRIC_IDS.filter((id) => points.some(({ figures }) => figures[id] !== undefined));
  const machines = new Set(all.map(({ host }) => nameMachine(host)));
  return {
    title: `${countOf(listed.length, 'run')} on ${countOf(machines.size, 'machine')}`,
    metric: metrics.find((id) => id === 'cpu') ?? metrics[0] ?? 'cpu',
    metrics,
    runs: listed
      .map((one) => toSiteRun(one, nameMachine(one.run.host)))
      .toSorted((a, b) => keyOf(b).localeCompare(keyOf(a))),
    histories,
    upgrades: toUpgrades(all, nameMachine),
    skipped,
  };
}

/** Ids begin with the time of their runs. */
function keyOf({ startedAt = '', run }: SiteRun): string {
  return `${startedAt} ${run}`;
}

function toSiteRun({ run, href, cover }: Listed, machine: string): SiteRun {
  const { plan, trials } = run;
  const startedAt = startOf(run);
  const count = (status: 'ok' | 'suspect' | 'failed'): number =>
    sum(trials.map((trial) => (trial.status === status ? 1 : 0)));
  return {
    run: plan.run,
    href,
    ...(startedAt !== undefined && { startedAt }),
    machine,
    workload: describeWorkload(plan),
    rungs: plan.rungs,
    targets: plan.targets.map(({ id }) => id),
    rounds: { measured: trackRun(plan).countRounds(trials), planned: plan.rounds },
    statuses: { ok: count('ok'), suspect: count('suspect'), failed: count('failed') },
    quick: plan.quick,
    ...(cover && { cover }),
  };
}

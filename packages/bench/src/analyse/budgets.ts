/** Budgets: the limits that a run must keep. Only a whole interval beyond a limit breaks it. */
import { METRICS, type MetricId } from '../metrics.ts';
import type { Plan } from '../plan/definition.ts';
import type { Trial } from '../results/record.ts';
import type { StoredRun } from '../results/store.ts';
import { compareWithin, figuresByRound, scheduleOf } from './compare.ts';
import type { Comparison } from './comparison.ts';
import { differencesOf } from './differences.ts';
import { exact, figureOf } from './metrics.ts';
import { compareTable } from './paired.ts';
import { thetaOf } from './verdict.ts';

/** A limit of a metric: a figure, or a share by which a target may be worse than a baseline of the same run. */
export interface Budget {
  metric: MetricId;
  /** The rate of the open loop at which it is measured, per second; a closed loop if absent. */
  rate?: number;
  /** The rung to which it applies; all if absent. */
  connections?: number;
  /** The target, or the copy of the project, to which it applies; if absent, all but the baselines. */
  of?: string;
  limit: { kind: 'figure'; value: number } | { kind: 'worse'; share: number; against: string };
}

/**
 * `broken`: the whole interval lies beyond the limit. `kept`: no part of it does. `not measured`: it is undecided, and rounds
 * have no figure of the metric.
 */
export type BudgetVerdict = 'kept' | 'broken' | 'undecided' | 'not measured';

/** One target against a budget at one rung. */
export interface JudgedRow {
  target: string;
  connections: number;
  verdict: BudgetVerdict;
  /** The comparison with the baseline, or with the limit itself if that is a figure. */
  comparison: Comparison;
  /** The rounds whose trial has no figure of the metric, valid or not; a failed trial is not among them. */
  missing: MissingFigures;
}

/** The rounds that lack a figure. */
export interface MissingFigures {
  rounds: number;
  of: number;
  /** The fewest right answers in one of them; absent without any. */
  answers?: number;
  /** The lowest goodput in one of them, per second. */
  goodputPerSecond?: number;
}

/** A budget with its rows; none if no target is compared with the baseline. */
export interface JudgedBudget {
  budget: Budget;
  rows: JudgedRow[];
}

/** The threshold of a comparison with a figure: it has no effect on the interval, which alone is judged. */
const ANY_THRESHOLD = 0.02;

/**
 * Judges a budget on the rounds of a run. `baselines` are the names that budgets compare with. All rows of a budget share
 * one error budget. Throws a usage error if the run has no such baseline.
 */
export function judgeBudget(
  run: Pick<StoredRun, 'plan' | 'trials'>,
  budget: Budget,
  baselines: readonly string[],
): JudgedBudget {
  const compared =
    budget.limit.kind === 'figure'
      ? compareWithFigure(run, budget, budget.limit.value, baselines)
      : compareWithBaseline(run, budget, budget.limit);
  const theta = budget.limit.kind === 'figure' ? 0 : thetaOf(budget.limit.share);
  return {
    budget,
    rows: compared.map((row) => {
      const missing = countMissing(run.trials, row, budget.metric);
      const verdict = verdictOn(row.comparison, theta);
      const isMissing = verdict === 'undecided' && missing.rounds > 0;
      return { ...row, missing, verdict: isMissing ? 'not measured' : verdict };
    }),
  };
}

function countMissing(
  trials: readonly Trial[],
  { target, connections }: Pick<JudgedRow, 'target' | 'connections'>,
  metric: MetricId,
): MissingFigures {
  const here = trials.flatMap((trial) =>
    trial.status !== 'failed' && trial.target.id === target && trial.connections === connections
      ? [trial]
      : [],
  );
  const without = here.filter((trial) => figureOf(trial, METRICS[metric]) === undefined);
  if (without.length === 0) return { rounds: 0, of: here.length };
  const loads = without.map(({ measured }) => measured.load);
  return {
    rounds: without.length,
    of: here.length,
    answers: Math.min(...loads.map(({ counts }) => counts.ok)),
    goodputPerSecond: Math.min(...loads.map(({ goodputPerSecond }) => goodputPerSecond)),
  };
}

function verdictOn({ interval }: Comparison, theta: number): 'kept' | 'broken' | 'undecided' {
  if (interval === undefined) return 'undecided';
  if (interval.low > theta) return 'broken';
  return interval.high <= theta ? 'kept' : 'undecided';
}

type Row = Omit<JudgedRow, 'verdict' | 'missing'>;

function compareWithBaseline(
  run: Pick<StoredRun, 'plan' | 'trials'>,
  budget: Budget,
  { share, against }: { share: number; against: string },
): Row[] {
  const { rows } = compareWithin(run, { by: budget.metric, threshold: share, baseline: against });
  const asked = new Set(targetsOf(run.plan, budget, []));
  return rows
    .filter(({ candidate, connections }) => asked.has(candidate) && isAt(budget, connections))
    .map(({ candidate, connections, comparison }) => ({ target: candidate, connections, comparison }));
}

/** Compares the figure of each round with the limit, as if that were the figure of a baseline. */
function compareWithFigure(
  { plan, trials }: Pick<StoredRun, 'plan' | 'trials'>,
  budget: Budget,
  limit: number,
  baselines: readonly string[],
): Row[] {
  const { better } = METRICS[budget.metric];
  const cells = plan.rungs
    .filter((connections) => isAt(budget, connections))
    .flatMap((connections) => targetsOf(plan, budget, baselines).map((target) => ({ target, connections })));
  const differences = cells.map(({ target, connections }) => {
    const figures = figuresByRound(trials, target, connections, budget.metric);
    return differencesOf(
      figures,
      figures.map(() => exact(limit)),
      better,
    );
  });
  const rules = { schedule: scheduleOf(plan), better, threshold: ANY_THRESHOLD };
  const comparisons = compareTable(differences, rules);
  return cells.map((cell, index) => ({ ...cell, comparison: comparisons[index] as Comparison }));
}

function isAt({ connections }: Budget, rung: number): boolean {
  return connections === undefined || connections === rung;
}

/** Returns the ids of the targets of a budget: all but the baselines, unless there are no others. */
function targetsOf({ targets }: Plan, { of }: Budget, baselines: readonly string[]): string[] {
  const isNamed = (names: readonly string[]) =>
    targets.filter(({ id, copy }) => names.includes(id) || (copy !== undefined && names.includes(copy.name)));
  const own = targets.filter(({ repeats }) => repeats === undefined);
  if (of !== undefined) return isNamed([of]).map(({ id }) => id);
  const left = own.filter((target) => !isNamed(baselines).includes(target));
  return (left.length > 0 ? left : own).map(({ id }) => id);
}

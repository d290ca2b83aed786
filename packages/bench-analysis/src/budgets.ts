/**
 * Budgets: the limits that a run must keep. Only a whole interval beyond a limit breaks it. The interval holds whatever the
 * invalid figures are within their bounds; one end that is known is enough for a verdict.
 */
import { answersFor } from 'bench-statistics/histogram';
import { METRICS, type MetricId } from 'bench-model/metrics';
import type { Interval } from 'bench-model/interval';
import type { Plan } from 'bench-model/plan';
import { isSamePlace, placesOf, type Place } from 'bench-model/planned';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { type Cell, cellOf, groupByCell } from './cells.ts';
import { contestRun, countShares, scheduleOf, trialsByRound, type ComparedRun } from './compare.ts';
import type { Comparison } from './comparison.ts';
import { differenceOf, locateMedian } from './differences.ts';
import { boundFigure, exact, figureOf, openReasons } from './metrics.ts';
import { alone, canDecide, compareGroups, type PairedRules } from './paired.ts';
import { thetaOf, toFactors } from './verdict.ts';

/** A limit of a metric: a figure, or a share by which a target may be worse than a baseline of the same run. */
export interface Budget {
  metric: MetricId;
  /** The rate of the open loop at which it is measured, per second; a closed loop if absent. */
  rate?: number;
  /** The rung to which it applies; all if absent. */
  connections?: number;
  /** The request to which it applies, of those that are measured one at a time; all if absent. */
  route?: string;
  /** The target, or the copy of the project, to which it applies; if absent, all but the baselines. */
  of?: string;
  limit: { kind: 'figure'; value: number } | { kind: 'worse'; share: number; against: string };
}

/**
 * `broken`: the whole interval lies beyond the limit. `kept`: no part of it does. `not measured`: it is undecided, and rounds
 * have no figure of the metric.
 */
export type BudgetVerdict = 'kept' | 'broken' | 'undecided' | 'not measured';

/** One target against a budget at one place. */
export interface JudgedRow extends Cell {
  verdict: BudgetVerdict;
  /** The comparison with the baseline, or with the limit itself if that is a figure. */
  comparison: Comparison;
  /** The interval as factors of the baseline or of the limit; 0 or Infinity where nothing bounds it. Absent with too few rounds. */
  interval?: Interval;
  /** The rounds in which a trial has no figure of the metric, valid or not; a failed trial is not among them. */
  missing: MissingFigures;
  /** The reasons that leave figures without a bound above or below, and in how many rounds; the most frequent first. */
  open: { reason: Reason; rounds: number }[];
}

/** The rounds that lack a figure. */
export interface MissingFigures {
  rounds: number;
  of: number;
  /** The fewest correct responses in one of them; absent without any. */
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
export function judgeBudget(run: ComparedRun, budget: Budget, baselines: readonly string[]): JudgedBudget {
  const compared =
    budget.limit.kind === 'figure'
      ? compareWithFigure(run, budget, budget.limit.value, baselines)
      : compareWithBaseline(run, budget, budget.limit);
  const theta = budget.limit.kind === 'figure' ? 0 : thetaOf(budget.limit.share);
  const { better } = METRICS[budget.metric];
  return {
    budget,
    rows: compared.map(({ target, baseline, comparison, interval, ...place }) => {
      const trials = run.trials.filter(
        (trial) => [target, baseline].includes(trial.target.id) && isSamePlace(trial, place),
      );
      const missing = countMissing(trials, budget.metric);
      const verdict = verdictOn(interval, theta);
      return {
        target,
        ...place,
        verdict: verdict === 'undecided' && missing.rounds > 0 ? 'not measured' : verdict,
        comparison,
        ...(interval && { interval: toFactors(interval, better) }),
        missing,
        open: findOpen(trials, budget.metric),
      };
    }),
  };
}

/**
 * Returns true if a verdict on the percentile of a budget is out of reach, because a window had fewer than half of the responses
 * that it needs, or too many had a few too few.
 */
export function isOutOfReach(plan: Plan, { budget, rows }: JudgedBudget): boolean {
  const { metric, limit } = budget;
  const needed = answersFor(metric) ?? 0;
  const shares = limit.kind === 'figure' ? rows.length : countShares(plan, limit.against);
  return rows.some((row) => {
    const { rounds, answers = needed } = row.missing;
    if (!lacksAnswers(row, budget)) return false;
    const isLimit = limit.kind === 'figure';
    return answers < needed / 2 || !canDecide(rounds, scheduleOf(plan, []), shares, isLimit);
  });
}

/** Returns true if rounds lack the percentile of a budget because their windows had too few responses. */
export function lacksAnswers({ missing: { answers } }: JudgedRow, { metric }: Budget): boolean {
  const needed = answersFor(metric);
  return needed !== undefined && answers !== undefined && answers < needed;
}

function countMissing(trials: readonly Trial[], metric: MetricId): MissingFigures {
  const measured = trials.filter((trial) => trial.status !== 'failed');
  const without = measured.filter((trial) => figureOf(trial, METRICS[metric]) === undefined);
  const [rounds, of] = [without, measured].map(countRounds) as [number, number];
  if (rounds === 0) return { rounds, of };
  const loads = without.map((trial) => trial.measured.load);
  return {
    rounds,
    of,
    answers: Math.min(...loads.map(({ counts }) => counts.ok)),
    goodputPerSecond: Math.min(...loads.map(({ goodputPerSecond }) => goodputPerSecond)),
  };
}

function countRounds(trials: readonly Pick<Trial, 'round'>[]): number {
  return new Set(trials.map(({ round }) => round)).size;
}

function findOpen(trials: readonly Trial[], metric: MetricId): JudgedRow['open'] {
  const found = trials.flatMap((trial) =>
    openReasons(trial, METRICS[metric]).map((reason) => ({ reason, round: trial.round })),
  );
  return [...Map.groupBy(found, ({ reason }) => reason.code).values()]
    .map((alike) => ({ reason: alike[0]!.reason, rounds: countRounds(alike) }))
    .toSorted((a, b) => b.rounds - a.rounds);
}

function verdictOn(interval: Interval | undefined, theta: number): 'kept' | 'broken' | 'undecided' {
  if (interval === undefined) return 'undecided';
  if (interval.low > theta) return 'broken';
  return interval.high <= theta ? 'kept' : 'undecided';
}

/** A target with its comparison; `interval` is one of log ratios. */
type Row = Cell &
  Pick<JudgedRow, 'comparison'> & {
    baseline?: string;
    interval?: Interval | undefined;
  };

function compareWithBaseline(
  run: ComparedRun,
  budget: Budget,
  { share, against }: { share: number; against: string },
): Row[] {
  const { rows } = contestRun(run, { by: budget.metric, threshold: share, baseline: against });
  const wanted = new Set(targetsOf(run.plan, budget, []));
  return rows
    .filter((row) => wanted.has(row.candidate) && isAt(budget, row))
    .map(({ candidate: target, located, ...row }) => ({ ...row, target, interval: located?.interval }));
}

/** Compares the median of the figures with the limit, as if that were the figure of a baseline: its interval needs no symmetry. */
function compareWithFigure(
  { plan, stops, trials }: ComparedRun,
  budget: Budget,
  limit: number,
  baselines: readonly string[],
): Row[] {
  const { better } = METRICS[budget.metric];
  const cells = placesOf(plan)
    .filter((place) => isAt(budget, place))
    .flatMap((place) => targetsOf(plan, budget, baselines).map((target) => ({ target, ...place })));
  const measured = groupByCell(trials);
  const differences = cells.map((cell) =>
    trialsByRound(measured.get(cellOf(cell))).map((trial) =>
      differenceOf(trial && boundFigure(trial, METRICS[budget.metric]), exact(limit), better),
    ),
  );
  const rules: PairedRules = {
    schedule: scheduleOf(plan, stops),
    better,
    threshold: ANY_THRESHOLD,
    locate: (own, error) => ({ located: locateMedian(own, error) }),
  };
  const rows = differences.map((own) => [alone(own)]);
  return compareGroups(rows, rules).map(({ comparison, located }, index) => ({
    ...cells[index]!,
    comparison,
    interval: located?.interval,
  }));
}

function isAt({ connections, route }: Budget, place: Place): boolean {
  return (
    (connections === undefined || connections === place.connections) &&
    (route === undefined || route === place.route)
  );
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

import type { Difference, Differences } from 'bench-statistics/two-way';
import { type Schedule, scheduleNamed } from 'bench-targets/catalogue/looks';
import { type Level, memoryByAnswers, peaksAtEqualAnswers } from 'bench-statistics/growth';
import { type Metric, METRICS, type MetricId } from 'bench-model/metrics';
import type { Target } from 'bench-model/target';
import type { Trial } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import { present, thresholdFor } from 'bench-model/options';
import { keyOfPlace, placeOf, placesOf, usualMetric } from 'bench-model/planned';
import type { StoredRun } from './results/store.ts';
import { cellOf, groupByCell } from './cells.ts';
import { type Pairing, pairTargets } from './baselines.ts';
import type { Comparison } from './comparison.ts';
import { fewestToStop, firstDecisive, fixedSchedule, withStops } from './looks.ts';
import { differenceOf } from './differences.ts';
import { boundByRate, COST_PART, type Rounds, withTime } from './cost-and-time.ts';
import { isBlind, readControl, withControl } from './control.ts';
import { capacitiesOf } from './capacities.ts';
import { boundFigure, exact, reasonsInTurns, withServices } from './metrics.ts';
import { logRatio } from './verdict.ts';
import { type Contestants, type Contested, rankTargets } from './contest.ts';
import { compareGroups } from './paired.ts';

/** The metric, the threshold and the baseline of a comparison. */
export interface Question {
  by: MetricId;
  /** The smallest difference that matters, as a share. */
  threshold: number;
  /**
   * The id of a target; `@` and a runtime, to compare each stack with itself on that runtime; the name of a copy, such as a revision,
   * to compare each target with itself there; or a name of `baselines.ts`. The default is that of the plan.
   */
  baseline?: string;
}

/** A run, as far as it is compared. */
export type ComparedRun = Pick<StoredRun, 'plan' | 'stops' | 'trials'>;

/** Returns the metric and the threshold by which the targets of a run are compared. */
export function questionOf(plan: Plan): Question {
  const { by = usualMetric(plan), threshold = thresholdFor(by) } = plan.sequentialTest ?? {};
  return { by, threshold };
}

/** One candidate against its baseline at one place. */
export interface ComparedRow extends Contestants {
  comparison: Comparison;
  /** The rank among all targets at this place; 1 is best. Indistinguishable targets share a rank. */
  rank?: number;
}

/** All comparisons of one metric. They share one error budget. */
export interface ComparedTable extends Question {
  baseline: string;
  rows: ComparedRow[];
}

/** The comparison of all targets of a run by one metric. */
export interface Contest {
  table: ComparedTable;
  /** The rows of the table, with their intervals as they are. */
  rows: Contested[];
  /** The ranks of targets, by the keys of their cells. */
  ranks: ReadonlyMap<string, number>;
}

/** Compares the targets of one run with its baseline, round by round. Throws a usage error if the run has no such baseline. */
export function compareWithin(run: ComparedRun, question: Question): ComparedTable {
  return contestRun(run, question).table;
}

/**
 * Holds the contest of a run by a metric: each target with its baseline and, in a run of fixed rounds, all other pairs of its
 * targets. Throws a usage error if the run has no such baseline.
 */
export function contestRun({ plan, stops, trials }: ComparedRun, question: Question): Contest {
  const { by, threshold } = question;
  const known = new Set(trials.map(({ target }) => target.id));
  const targets = plan.targets.filter(({ id }) => known.has(id));
  const { from, pairings } = pairTargets(plan, targets, question.baseline);
  const isSequential = plan.sequentialTest !== undefined;
  const couples = isSequential ? pairings : pairAll(targets, pairings);
  const cells = groupByCell(trials);
  const hasTime = by === 'cpu' && plan.load.mode !== 'promise' && !targets.some(({ scale }) => scale);
  const places = placesOf(plan).map((place) =>
    couples.map(([candidate, baseline]) => {
      const pair = { ...place, candidate, baseline };
      const rounds = roundsOf(cells, pair);
      const differences = differencesOf(rounds, by);
      return { ...pair, rounds, differences: hasTime ? boundByRate(differences, rounds) : differences };
    }),
  );
  const schedule = scheduleOf(plan, stops);
  const rules = { better: METRICS[by].better, threshold, schedule, isCost: by === 'cpu' };
  const shares = places.flat().length / (isSequential ? 1 : plan.rungs.length);
  const controls = Math.max(1, plan.control?.targets.length ?? 0) * placesOf(plan).length;
  const compared = compareGroups(places, rules, hasTime ? shares / COST_PART : shares);
  const judged = places.flat().map(({ rounds, candidate, baseline, ...at }, index): Contested => {
    const one = { ...placeOf(at), candidate, baseline, ...compared[index]! };
    if (!hasTime) return one;
    const planted = rounds.slice(0, one.comparison.rounds).map(([, other]) => other);
    const cost = withControl(one.comparison, readControl(planted, controls));
    const comparison = withTime(cost, rounds, { rules, comparisons: shares, measure: differencesOf });
    return { ...one, ...(isBlind(cost) && { located: undefined }), comparison };
  });
  const ranks = rankAll(judged, { threshold, isSequential });
  const asked = new Map(pairings);
  const rows = judged.filter(({ candidate, baseline }) => asked.get(candidate) === baseline);
  const races = Map.groupBy(rows, ({ baseline, ...place }) => cellOf({ target: baseline, ...place }));
  const ordered = [...races.values()].flat();
  const ranked = ordered.map(({ candidate, baseline, comparison, ...at }): ComparedRow => {
    const rank = ranks.get(cellOf({ ...at, target: candidate }));
    return { ...placeOf(at), candidate, baseline, comparison, ...present({ rank }) };
  });
  return { table: { ...question, baseline: from, rows: ranked }, rows: ordered, ranks };
}

/** Returns all pairs of targets, first those that are asked for. */
function pairAll(targets: readonly Target[], asked: readonly Pairing[]): Pairing[] {
  const names = targets.map(({ id }) => id);
  const all = names.flatMap((baseline, index) =>
    names.slice(index + 1).map((candidate): Pairing => [candidate, baseline]),
  );
  const isAsked = ([one, other]: Pairing): boolean =>
    asked.some((pair) => pair.includes(one) && pair.includes(other));
  return [...asked, ...all.filter((pair) => !isAsked(pair))];
}

/**
 * Ranks the targets of each place. A place has no ranks if not all of them were compared with each other or with one baseline: the
 * comparisons of a sequential test with several baselines say nothing of the others.
 */
function rankAll(
  contested: readonly Contested[],
  { threshold, isSequential }: { threshold: number; isSequential: boolean },
): Map<string, number> {
  const places = [...Map.groupBy(contested, keyOfPlace).values()];
  return new Map(
    places.flatMap((here) => {
      const isSplit = isSequential && new Set(here.map(({ baseline }) => baseline)).size > 1;
      const names = new Set(here.flatMap(({ candidate, baseline }) => [baseline, candidate]));
      const ranks = isSplit ? [] : rankTargets([...names], here, threshold);
      return [...ranks].map(([target, rank]) => [cellOf({ ...here[0]!, target }), rank] as const);
    }),
  );
}

/**
 * Returns those of the verdicts that a table has. `slower` and `faster` count only if the whole interval lies beyond the
 * threshold, as for a budget: a difference that may be smaller fails no job.
 */
export function findVerdicts<Name extends Comparison['verdict']>(
  { rows }: Pick<ComparedTable, 'rows'>,
  verdicts: readonly Name[],
): Name[] {
  return verdicts.filter((wanted) =>
    rows.some(({ comparison: { verdict, byMoreThanThreshold } }) => {
      const isDifference = verdict === 'slower' || verdict === 'faster';
      return verdict === wanted && (byMoreThanThreshold || !isDifference);
    }),
  );
}

/**
 * Returns the log ratio of each round of a run, from the totals of both trials, whether they took turns or not. The last
 * round is the last one with a trial of both, because a decided comparison leaves the rounds. A centre of the turns would
 * vary a little less, but it misses half and more of costs that come in bursts.
 */
export function differencesWithin(trials: readonly Trial[], pair: Contestants, by: MetricId): Differences {
  return differencesOf(roundsOf(groupByCell(trials), pair), by);
}

function differencesOf(rounds: Rounds, by: MetricId): Differences {
  const pooled =
    by === 'capacity'
      ? new Map([0, 1].flatMap((side) => [...capacitiesOf(rounds.flatMap((both) => both[side] ?? []))]))
      : undefined;
  return rounds.map((both) => differenceInRound(both, { metric: METRICS[by], pooled }));
}

function roundsOf(
  cells: ReadonlyMap<string, Trial[]>,
  { candidate, baseline, ...place }: Contestants,
): Rounds {
  const [ours, theirs] = [candidate, baseline].map((target) =>
    trialsByRound(cells.get(cellOf({ target, ...place }))),
  ) as [ByRound, ByRound];
  return ours.slice(0, theirs.length).map((trial, round) => [trial, theirs[round]]);
}

type ByRound = (Trial | undefined)[];

/** Returns the trials of a cell by round, up to the last one; undefined where one is missing. */
export function trialsByRound(trials: readonly Trial[] = []): ByRound {
  const byRound = Map.groupBy(trials, ({ round }) => round);
  const last = Math.max(0, ...byRound.keys());
  return Array.from({ length: last }, (_, index) => byRound.get(index + 1)?.[0]);
}

/** Returns the difference of two trials in one round, from their figures; `pooled` has those that all trials tell together. */
function differenceInRound(
  [candidate, baseline]: Rounds[number],
  { metric, pooled }: { metric: Metric; pooled: ReadonlyMap<Trial, number> | undefined },
): Difference | undefined {
  const tookTurns = candidate?.duel !== undefined && candidate.duel === baseline?.duel;
  const [ours, theirs] = [candidate, baseline].map((trial, index) => {
    const value = trial && pooled?.get(trial);
    if (value !== undefined) return exact(value);
    if (trial === undefined) return undefined;
    const counted = index === 0 ? [] : (candidate?.reasons ?? []);
    const reasons = tookTurns ? reasonsInTurns(trial, metric, counted) : trial.reasons;
    const figure = boundFigure(trial, metric, reasons);
    return figure && metric.id === 'cpu' ? withServices(figure, trial) : figure;
  });
  const difference = differenceOf(ours, theirs, metric.better);
  if (difference === undefined || metric.id !== 'memory') return difference;
  // After equal numbers of responses: a faster one that leaks would have more.
  const [own, others] = [candidate, baseline].map((trial) =>
    trial === undefined || trial.status === 'failed' ? [] : memoryByAnswers(trial.measured),
  ) as [Level[], Level[]];
  const [peak, other] = peaksAtEqualAnswers(own, others) ?? [];
  const value = logRatio(peak, other, metric.better);
  const { value: from, low, high } = difference;
  return value === undefined ? difference : { value, low: low + value - from, high: high + value - from };
}

/** The looks at which a run's comparisons may decide: its schedule or one look after its fixed rounds, and its stops. */
export function scheduleOf(
  { sequentialTest, rounds }: Pick<Plan, 'sequentialTest' | 'rounds'>,
  stops: ComparedRun['stops'],
): Schedule {
  const planned = sequentialTest === undefined ? fixedSchedule(rounds) : scheduleNamed(sequentialTest.looks);
  return withStops(planned, stops);
}

/**
 * Counts the comparisons of a plan that share its error of 5 %: all pairs of targets at one rung, with every request that is
 * measured there, or in a sequential test each target with its baseline at every place.
 */
export function countShares(plan: Plan, baseline?: string): number {
  const { length } = plan.targets;
  if (plan.sequentialTest !== undefined) return countRows(plan, baseline);
  return ((length * (length - 1)) / 2) * (plan.routes?.length ?? 1);
}

function countRows(plan: Plan, baseline?: string): number {
  return pairTargets(plan, plan.targets, baseline).pairings.length * placesOf(plan).length;
}

/** The comparisons of a plan with its default baseline. */
export interface Foreseen {
  rows: number;
  schedule: Schedule;
  /** Rounds at the first look that can decide this number of rows; undefined if none can. */
  decisiveRounds: number | undefined;
  /** The fewest rounds that decide them if the run is stopped; undefined if none do. */
  fewestRounds: number | undefined;
}

/** Counts the rows of a plan's table before it is measured, and finds the first look that can decide them. */
export function foreseeTable(plan: Plan, stops?: ComparedRun['stops']): Foreseen {
  const schedule = scheduleOf(plan, stops);
  const rows = plan.targets.length < 2 ? 0 : countRows(plan);
  const least = Math.max(1, rows);
  return {
    rows,
    schedule,
    decisiveRounds: firstDecisive(schedule, least)?.rounds,
    fewestRounds: fewestToStop(schedule, least),
  };
}

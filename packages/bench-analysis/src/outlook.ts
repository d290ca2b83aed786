/** The noise between the rounds of a comparison, and the rounds and the time that a verdict takes. */
import {
  estimateSeconds,
  isSamePlace,
  placeOf,
  placesOf,
  secondsPerRound,
  usualMetric,
} from 'bench-model/planned';
import type { MetricId } from 'bench-model/metrics';
import type { Interval } from 'bench-model/interval';
import { median, robustDeviation } from 'bench-statistics/numbers';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import type { StoredRun } from './results/store.ts';
import {
  baselinesOf,
  countShares,
  differencesWithin,
  foreseeTable,
  type Question,
  scheduleOf,
} from './compare.ts';
import type { Contestants } from './contest.ts';
import { detectableDifferences, type Finding, type Residuals } from './detectable.ts';
import { valuesOf } from './differences.ts';
import { ERROR_BUDGET, withStops } from './looks.ts';
import { estimateCentre } from 'bench-statistics/signed-rank';
import { FEWEST_ROUNDS, roundsToShow, SOUGHT_EFFECT } from './verdict.ts';

/** The noise of one comparison. */
export interface Noise extends Contestants {
  /** The robust standard deviation of its log ratios between rounds. */
  deviation: number;
  residuals: Residuals;
}

/** The rounds that a comparison needs. */
export interface Outlook extends Contestants {
  deviation: number;
  rounds: number;
  /** The valid rounds so far. */
  measured: number;
}

/** The difference that a sequential test has to show is this multiple of its threshold: the estimate varies around the truth. */
const SOUGHT = 1.5;

/** Returns the difference that a plan is foreseen to show, as a share; a difference of the threshold itself is found only by luck. */
export function soughtBy({ sequentialTest }: Plan): number | undefined {
  return sequentialTest && SOUGHT * sequentialTest.threshold;
}

/** Returns the noise of each comparison of a run that has enough rounds. */
export function noiseOf(run: Pick<StoredRun, 'plan' | 'trials'>, by: MetricId): Noise[] {
  return measureNoise(run, pairsOf(run.plan), by);
}

/** Returns the noise of those pairs that have enough rounds, with the number of their valid rounds. */
function measureNoise(
  { trials }: Pick<StoredRun, 'trials'>,
  pairs: readonly Contestants[],
  by: MetricId,
): (Noise & { measured: number })[] {
  return pairs.flatMap(({ candidate, baseline, ...place }) => {
    const pair = { ...placeOf(place), candidate, baseline };
    const values = valuesOf(differencesWithin(trials, pair, by));
    const measured = values.length;
    if (measured < FEWEST_ROUNDS) return [];
    const centre = estimateCentre(values);
    const residuals = values.map((value) => value - centre);
    return [{ ...pair, deviation: robustDeviation(values), residuals, measured }];
  });
}

function pairsOf(plan: Plan, from?: string): Contestants[] {
  if (plan.targets.length < 2) return [];
  const baselines = [...baselinesOf(plan, from)];
  return placesOf(plan).flatMap((place) =>
    baselines.map(([candidate, baseline]) => ({ ...place, candidate, baseline })),
  );
}

/** Returns the rounds after which a comparison of a plan with this noise shows the sought difference. */
function roundsFor(plan: Plan, deviation: number): number {
  return roundsToShow(deviation, soughtBy(plan) ?? SOUGHT_EFFECT, ERROR_BUDGET / pairsOf(plan).length);
}

/** Returns the rounds that the rows of a sequential test need to show the sought difference; those with too few rounds to say are omitted. */
export function foreseeOpen(
  run: Pick<StoredRun, 'plan' | 'trials'>,
  open: readonly Contestants[],
): Outlook[] {
  const { plan } = run;
  return measureNoise(run, open, plan.sequentialTest?.by ?? usualMetric(plan)).map((noise) => ({
    ...noise,
    rounds: roundsFor(plan, noise.deviation),
  }));
}

/** A question to a plan: the metric, the threshold and the baseline of its comparisons, and what they have to show. */
export interface Sought extends Question {
  finding: Finding;
}

/** The differences that a plan finds, foreseen from the noise of stored runs. */
export interface Reach {
  rows: number;
  /** The smallest difference that each comparison finds with this probability, as a share; absent if none is found that often. */
  found: { probability: number; difference?: number }[];
}

const PROBABILITIES = [0.95, 0.8];

/**
 * Foresees the differences that the comparisons of a plan find; the one with the most noise counts. Undefined without
 * noise, and without comparisons.
 */
export function foreseeReach(
  plan: Plan,
  stored: readonly Noise[],
  { finding, threshold, baseline }: Sought,
): Reach | undefined {
  const expected = expectNoise(plan, stored, baseline);
  const rounds = roundsWithin(plan);
  if (expected === undefined || rounds === 0) return undefined;
  const schedule = withStops(scheduleOf(plan), rounds < plan.rounds ? [rounds] : []);
  const design = { schedule, rounds, rows: countShares(plan, baseline), threshold };
  const pools = new Map(expected.map(({ pair, noise }) => [stacksOf(pair), noise]));
  const found = [...pools.values()].map((pool) =>
    detectableDifferences(
      design,
      pool.map(({ residuals }) => residuals),
      finding,
      PROBABILITIES,
    ),
  );
  return {
    rows: expected.length,
    found: PROBABILITIES.map((probability, index) => {
      const all = found.map((differences) => differences[index]);
      const difference = all.includes(undefined) ? undefined : Math.max(...all.map((one) => one ?? 0));
      return { probability, ...(difference !== undefined && { difference }) };
    }),
  };
}

/** A comparison of a plan, with the stored noise of comparisons between the same stacks, or of all if there are none. */
interface Expected {
  pair: Contestants;
  noise: readonly Noise[];
  /** The median of their deviations. */
  deviation: number;
  isOfOthers: boolean;
}

/** Returns the noise to expect of each comparison of a plan; undefined without comparisons or stored noise. */
function expectNoise(plan: Plan, stored: readonly Noise[], baseline?: string): Expected[] | undefined {
  const pairs = pairsOf(plan, baseline);
  if (pairs.length === 0 || stored.length === 0) return undefined;
  return pairs.map((pair) => {
    const same = stored.filter((noise) => stacksOf(noise) === stacksOf(pair));
    const noise = same.length > 0 ? same : stored;
    const deviation = median(noise.map((one) => one.deviation));
    return { pair, noise, deviation, isOfOthers: same.length === 0 };
  });
}

/**
 * Returns the least and the most deviation to expect of the comparisons of a plan, and whether it is partly that of other
 * targets; undefined without comparisons or stored noise.
 */
export function noiseOfPlan(
  plan: Plan,
  stored: readonly Noise[],
): { deviations: Interval; isOfOthers: boolean } | undefined {
  const expected = expectNoise(plan, stored);
  if (expected === undefined) return undefined;
  const all = expected.map(({ deviation }) => deviation);
  return {
    deviations: { low: Math.min(...all), high: Math.max(...all) },
    isOfOthers: expected.some(({ isOfOthers }) => isOfOthers),
  };
}

/** The rounds that the budget of a plan holds, see `keepTime`. Without a budget, all of them. */
function roundsWithin(plan: Plan): number {
  const { budgetSeconds } = plan.sequentialTest ?? {};
  if (budgetSeconds === undefined) return plan.rounds;
  const held = budgetSeconds / secondsPerRound(plan);
  const { fewestRounds = 0 } = foreseeTable(plan);
  return Math.min(plan.rounds, Math.max(Math.floor(held), Math.min(Math.ceil(held), fewestRounds)));
}

/** The power of a plan, foreseen from the noise of stored runs. */
export interface Prospect {
  /** The comparisons of the plan, with the rounds after which each has probably left. */
  rows: Outlook[];
  rounds: number;
  seconds: number;
}

/**
 * Foresees the rounds and the time that a sequential test takes to show the sought difference in every comparison.
 * Undefined without noise.
 */
export function foreseePower(plan: Plan, stored: readonly Noise[]): Prospect | undefined {
  const expected = expectNoise(plan, stored);
  if (plan.sequentialTest === undefined || expected === undefined) return undefined;
  const schedule = scheduleOf(plan);
  const rows = expected.map(({ pair, deviation }): Outlook => {
    const needed = roundsFor(plan, deviation);
    const look = schedule.find(({ rounds }) => rounds >= needed);
    return { ...pair, deviation, rounds: look?.rounds ?? needed, measured: 0 };
  });
  return {
    rows,
    rounds: Math.max(...rows.map(({ rounds }) => rounds)),
    seconds: secondsUntil(plan, rows),
  };
}

/** `fastapi fastapi/plain`: the stacks of a comparison, whatever they run on. */
function stacksOf({ candidate, baseline }: Contestants): string {
  return [baseline, candidate].map((id) => id.split(/[@[ ]/)[0]).join(' ');
}

/** Estimates the time of all rounds after round `from`, if each comparison is measured up to its number of rounds. */
export function secondsUntil(plan: Plan, rows: readonly Outlook[], from = 0): number {
  const first = plan.trials.filter(({ round }) => round === 1);
  const ends = [...new Set(rows.map(({ rounds }) => rounds))].filter((end) => end > from);
  let seconds = 0;
  let begin = from;
  for (const end of ends.toSorted((a, b) => a - b)) {
    const left = rows.filter(({ rounds }) => rounds >= end);
    seconds += (end - begin) * estimateSeconds(plan, trialsOf(first, left));
    begin = end;
  }
  return seconds;
}

function trialsOf(round: readonly PlannedTrial[], rows: readonly Contestants[]): PlannedTrial[] {
  return round.filter((trial) =>
    rows.some((row) => isSamePlace(row, trial) && [row.candidate, row.baseline].includes(trial.target)),
  );
}

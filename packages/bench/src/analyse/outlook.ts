/** The noise between the rounds of a comparison, and the rounds and the time that a verdict takes. */
import type { MetricId } from '../metrics.ts';
import { median } from '../numbers.ts';
import type { Plan, PlannedTrial } from '../plan/definition.ts';
import { estimateSeconds } from '../plan/plan.ts';
import type { StoredRun } from '../results/store.ts';
import { baselinesOf, type ComparedRow, differencesWithin, scheduleOf } from './compare.ts';
import { ERROR_BUDGET } from './looks.ts';
import { robustDeviation } from './quantiles.ts';
import { FEWEST_ROUNDS, roundsToShow, SOUGHT_EFFECT } from './verdict.ts';

/** A comparison: two targets at a number of connections. */
type Pair = Pick<ComparedRow, 'connections' | 'candidate' | 'baseline'>;

/** The noise of one comparison. */
export interface Noise extends Pair {
  /** The robust standard deviation of its log ratios between rounds. */
  deviation: number;
}

/** The rounds that a comparison needs. */
export interface Outlook extends Noise {
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
  pairs: readonly Pair[],
  by: MetricId,
): Omit<Outlook, 'rounds'>[] {
  return pairs.flatMap(({ connections, candidate, baseline }) => {
    const pair = { connections, candidate, baseline };
    const values = differencesWithin(trials, pair, by).filter((difference) => difference !== undefined);
    const measured = values.length;
    return measured < FEWEST_ROUNDS ? [] : [{ ...pair, deviation: robustDeviation(values), measured }];
  });
}

function pairsOf(plan: Plan): Pair[] {
  return plan.rungs.flatMap((connections) =>
    [...baselinesOf(plan)].map(([candidate, baseline]) => ({ connections, candidate, baseline })),
  );
}

/** Returns the rounds after which a comparison of a plan with this noise shows the sought difference. */
function roundsFor(plan: Plan, deviation: number): number {
  return roundsToShow(deviation, soughtBy(plan) ?? SOUGHT_EFFECT, ERROR_BUDGET / pairsOf(plan).length);
}

/** Returns the rounds that the rows of a sequential test need to show the sought difference; those with too few rounds to say are omitted. */
export function foreseeOpen(run: Pick<StoredRun, 'plan' | 'trials'>, open: readonly Pair[]): Outlook[] {
  const { plan } = run;
  return measureNoise(run, open, plan.sequentialTest?.by ?? 'cpu').map((noise) => ({
    ...noise,
    rounds: roundsFor(plan, noise.deviation),
  }));
}

/** The power of a plan, foreseen from the noise of stored runs. */
export interface Prospect {
  /** The comparisons of the plan, with the rounds after which each has probably left. */
  rows: Outlook[];
  /** True if the noise is that of other targets. */
  isOfOthers: boolean;
  rounds: number;
  seconds: number;
}

/**
 * Foresees the rounds and the time that a sequential test takes to show the sought difference in every comparison.
 * The noise of each is the median of stored comparisons between the same stacks, or between any. Undefined without noise.
 */
export function foreseePower(plan: Plan, stored: readonly Noise[]): Prospect | undefined {
  const pairs = pairsOf(plan);
  if (plan.sequentialTest === undefined || pairs.length === 0 || stored.length === 0) return undefined;
  const schedule = scheduleOf(plan);
  let isOfOthers = false;
  const rows = pairs.map((pair): Outlook => {
    const same = stored.filter((noise) => stacksOf(noise) === stacksOf(pair));
    isOfOthers ||= same.length === 0;
    const deviation = median((same.length > 0 ? same : stored).map((noise) => noise.deviation));
    const needed = roundsFor(plan, deviation);
    const look = schedule.find(({ rounds }) => rounds >= needed);
    return { ...pair, deviation, rounds: look?.rounds ?? needed, measured: 0 };
  });
  return {
    rows,
    isOfOthers,
    rounds: Math.max(...rows.map(({ rounds }) => rounds)),
    seconds: secondsUntil(plan, rows),
  };
}

/** `fastapi fastapi/plain`: the stacks of a comparison, whatever they run on. */
function stacksOf({ candidate, baseline }: Pair): string {
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

function trialsOf(round: readonly PlannedTrial[], rows: readonly Pair[]): PlannedTrial[] {
  return round.filter(({ target, connections }) =>
    rows.some(
      (row) => row.connections === connections && (row.candidate === target || row.baseline === target),
    ),
  );
}

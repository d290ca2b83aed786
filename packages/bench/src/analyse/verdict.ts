/** What an interval says. Differences are log ratios that point one way: above 0 the candidate is worse. */
import { upperPoint } from './normal.ts';
import { robustDeviation } from './quantiles.ts';
import type { Interval } from './signed-rank.ts';

/** What a comparison says of the candidate, by whatever metric: `slower` is worse, `faster` better. */
export type Verdict = 'faster' | 'slower' | 'same' | 'undecided';

/** Which way a metric is good. */
export type Better = 'lower' | 'higher';

/** The effect that an undecided comparison foresees its rounds for: 6 %. */
export const SOUGHT_EFFECT = 0.06;

const FEWEST_TO_FORESEE = 3;
/** Below so many rounds no exact interval of 95 % exists. */
export const FEWEST_ROUNDS = 6;

/** A verdict and whether the whole interval lies beyond the threshold ("by more than 2 %"). */
export interface Judgement {
  verdict: Verdict;
  byMoreThanThreshold: boolean;
}

/** A factor with its bounds, candidate ÷ baseline in the metric's own unit: 1.06 is 6 % more of it. */
export interface Ratio {
  estimate: number;
  interval?: Interval;
  /** Of the single rounds (paired) or of all pairs (unpaired). */
  range: Interval;
}

/** The log of 1 + `threshold`, where 0.02 is 2 %. Throws RangeError unless it is above 0. */
export function thetaOf(threshold: number): number {
  if (!(threshold > 0)) throw new RangeError(`a threshold is a share above 0, not ${threshold}`);
  return Math.log(1 + threshold);
}

/**
 * The two-level verdict on log ratios that are positive where the candidate is worse: `slower` when the interval lies
 * above 0 and the estimate is `theta` or more, by more than the threshold when all of it lies above `theta`; `faster`
 * likewise below; `same` when it lies inside ±`theta` (Schuirmann 1987); else `undecided`.
 */
export function judge(estimate: number, interval: Interval, theta: number): Judgement {
  if (interval.low > 0 && estimate >= theta) {
    return { verdict: 'slower', byMoreThanThreshold: interval.low > theta };
  }
  if (interval.high < 0 && estimate <= -theta) {
    return { verdict: 'faster', byMoreThanThreshold: interval.high < -theta };
  }
  const same = interval.low > -theta && interval.high < theta;
  return { verdict: same ? 'same' : 'undecided', byMoreThanThreshold: false };
}

/**
 * ln(candidate ÷ baseline), or its negative where more is better: above 0 the candidate is worse. Undefined unless
 * both figures are finite and above 0: only those have a ratio.
 */
export function logRatio(
  candidate: number | undefined,
  baseline: number | undefined,
  better: Better,
): number | undefined {
  if (!isPositive(candidate) || !isPositive(baseline)) return undefined;
  return directionOf(better) * Math.log(candidate / baseline);
}

/** The figures of log ratios as factors of the metric itself, candidate ÷ baseline, the bounds in rising order. */
export function toRatio(
  figures: { estimate: number; interval?: Interval | undefined; range: Interval },
  better: Better,
): Ratio {
  const { estimate, interval, range } = figures;
  return {
    estimate: Math.exp(directionOf(better) * estimate),
    ...(interval && { interval: toFactors(interval, better) }),
    range: toFactors(range, better),
  };
}

function toFactors({ low, high }: Interval, better: Better): Interval {
  return better === 'lower'
    ? { low: Math.exp(low), high: Math.exp(high) }
    : { low: Math.exp(-high), high: Math.exp(-low) };
}

/**
 * About how many rounds show a difference of `effect` (a share, 6 % by default) at a two-sided error of `level`, at
 * least as many as allow an exact interval at that level: ((z + 1.96) s ÷ ln(1 + effect))², the sample size of a
 * paired test with 97.5 % power, where z is the normal point of `level` (1.96 at 5 %) and s the robust deviation of the
 * log ratios. Undefined below 3 rounds.
 */
export function foreseeRounds(
  differences: readonly number[],
  effect: number = SOUGHT_EFFECT,
  level = 0.05,
): number | undefined {
  if (differences.length < FEWEST_TO_FORESEE) return undefined;
  const points = upperPoint(level / 2) + upperPoint(0.025);
  const rounds = ((points * robustDeviation(differences)) / Math.log(1 + effect)) ** 2;
  return Math.max(Math.ceil(1 - Math.log2(level)), Math.ceil(rounds));
}

function directionOf(better: Better): 1 | -1 {
  return better === 'lower' ? 1 : -1;
}

function isPositive(figure: number | undefined): figure is number {
  return figure !== undefined && figure > 0 && figure < Infinity;
}

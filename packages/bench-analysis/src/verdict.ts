/** Verdicts from intervals. Differences are log ratios: above 0 the candidate is worse. */
import type { Verdict } from 'bench-model/options';
import type { Interval } from 'bench-model/interval';
import { upperPoint } from 'bench-statistics/normal';

/** The direction in which a metric is better. */
export type Better = 'lower' | 'higher';

/** The effect for which an undecided comparison estimates its rounds: 6 %. */
export const SOUGHT_EFFECT = 0.06;

/** The fewest rounds for an exact 95 % confidence interval. */
export const FEWEST_ROUNDS = 6;

/** A verdict; `byMoreThanThreshold` is true if the whole interval lies beyond the threshold ("by more than 2 %"). */
export interface Judgement {
  verdict: Verdict;
  byMoreThanThreshold: boolean;
}

/** A factor with its bounds, candidate ÷ baseline in the unit of the metric: 1.06 means 6 % more. */
export interface Ratio {
  estimate: number;
  interval?: Interval;
  /** The range over the single rounds. */
  range: Interval;
}

/** The log of 1 + `threshold`, where 0.02 is 2 %. Throws RangeError unless it is above 0. */
export function thetaOf(threshold: number): number {
  if (!(threshold > 0)) throw new RangeError(`a threshold must be a share above 0, not ${threshold}`);
  return Math.log(1 + threshold);
}

/**
 * Reaches the two-level verdict on log ratios; above 0 the candidate is worse.
 * - `slower`: the interval lies above 0 and the estimate is at least `theta`; by more than the threshold if the whole
 *   interval lies above `theta`
 * - `faster`: likewise below 0
 * - `same`: the interval lies inside ±`theta` (Schuirmann 1987)
 * - `undecided`: otherwise
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
 * ln(candidate ÷ baseline), or its negative if higher is better: above 0 the candidate is worse. Undefined unless both
 * figures are finite and above 0.
 */
export function logRatio(
  candidate: number | undefined,
  baseline: number | undefined,
  better: Better,
): number | undefined {
  if (!isPositive(candidate) || !isPositive(baseline)) return undefined;
  return directionOf(better) * Math.log(candidate / baseline);
}

/** Converts log ratios to factors of the metric, candidate ÷ baseline, with the bounds in ascending order. */
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

/** Converts an interval of log ratios to factors of the metric. An infinite end becomes 0 or Infinity. */
export function toFactors({ low, high }: Interval, better: Better): Interval {
  return better === 'lower'
    ? { low: Math.exp(low), high: Math.exp(high) }
    : { low: Math.exp(-high), high: Math.exp(-low) };
}

/**
 * Estimates the rounds that show a difference of `effect`, a share, at a two-sided error of `level`, if log ratios have
 * this standard deviation s between rounds; at least as many as an exact interval at that level needs:
 * ((z + 1.96) s ÷ ln(1 + effect))², the sample size of a paired test with 97.5 % power, where z is the normal point of
 * `level` (1.96 at 5 %).
 */
export function roundsToShow(deviation: number, effect: number, level: number): number {
  const points = upperPoint(level / 2) + upperPoint(0.025);
  const rounds = ((points * deviation) / Math.log(1 + effect)) ** 2;
  return Math.max(Math.ceil(1 - Math.log2(level)), Math.ceil(rounds));
}

function directionOf(better: Better): 1 | -1 {
  return better === 'lower' ? 1 : -1;
}

function isPositive(figure: number | undefined): figure is number {
  return figure !== undefined && figure > 0 && figure < Infinity;
}

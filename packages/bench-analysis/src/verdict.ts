/** Verdicts from intervals. Differences are log ratios: above 0 the candidate is worse. */
import type { Verdict } from 'bench-model/options';
import type { Interval } from 'bench-model/interval';

export type Better = 'lower' | 'higher';

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

/** Nobody waits for more than this many times the rounds that were measured. */
const MOST_TIMES = 10;

/**
 * Estimates how many more rounds decide an undecided comparison if its estimate stays: an interval narrows with the square root
 * of the rounds, until it lies on one side of 0 or within ±`theta`. Undefined if that takes more than ten times the rounds so
 * far, as of a difference close to the threshold.
 */
export function roundsToDecide(
  { estimate, low, high }: Interval & { estimate: number },
  rounds: number,
  theta: number,
): number | undefined {
  const [below, above] = [estimate - low, high - estimate];
  const narrower = [
    ...(estimate >= theta ? [below / estimate] : []),
    ...(estimate <= -theta ? [above / -estimate] : []),
    ...(Math.abs(estimate) < theta ? [Math.max(below / (estimate + theta), above / (theta - estimate))] : []),
  ];
  const times = Math.min(...narrower) ** 2;
  return times > MOST_TIMES ? undefined : Math.max(1, Math.ceil((times - 1) * rounds));
}

function directionOf(better: Better): 1 | -1 {
  return better === 'lower' ? 1 : -1;
}

function isPositive(figure: number | undefined): figure is number {
  return figure !== undefined && figure > 0 && figure < Infinity;
}

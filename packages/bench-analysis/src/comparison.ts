/** The result of a comparison: its figures, and its verdict or the reason for having none. */
import type { Differences } from 'bench-statistics/two-way';
import type { Better, Judgement, Ratio } from './verdict.ts';
import type { Interval } from 'bench-model/interval';
import { type Dear, isBounded } from './differences.ts';

/** The rules for every comparison of a table. */
export interface Rules {
  better: Better;
  /** The smallest difference that matters, as a share: 0.02. */
  threshold: number;
}

interface Compared {
  /** The rounds that it rests on, whether their figures are valid or not. */
  rounds: number;
  /** The invalid ones with bounds: the interval holds for every difference within them. */
  bounded: number;
  /** The invalid ones without a bound above or below, such as failed trials: there they count as the worst difference. */
  unbounded: number;
  /** The ratio of the means, candidate ÷ baseline in the unit of the metric; absent if too few rounds tell. */
  mean?: MeanRatio;
  /** The rounds of dear processes, if the mean is not that of the typical process. */
  dear?: Dear;
}

/** The factor of the means with its interval. */
export interface MeanRatio {
  estimate: number;
  interval: Interval;
}

/** A comparison with a verdict. `estimate` and `interval` are log ratios; above 0 the candidate is worse. */
export interface Decided extends Compared {
  verdict: 'faster' | 'slower' | 'same';
  byMoreThanThreshold: boolean;
  estimate: number;
  interval: Interval;
  ratio: Ratio;
}

/** A comparison without a verdict. Only `wide` and `mean` have an interval; without rounds there is no estimate. */
export interface Undecided extends Compared {
  verdict: 'undecided';
  byMoreThanThreshold: false;
  /**
   * `unbounded`: too many rounds have no bound for an interval that holds whatever their differences were. `mean`: the typical
   * process has a verdict, and the mean of all does not agree.
   */
  why: 'too-few-rounds' | 'unbounded' | 'wide' | 'mean';
  estimate?: number;
  interval?: Interval;
  ratio?: Ratio;
  /**
   * About how many more rounds decide it, see `roundsToDecide`; if there are too few for an interval, the fewest that may. Absent
   * if no such number does.
   */
  moreRounds?: number;
}

export type Comparison = Decided | Undecided;

/**
 * Returns true if further rounds of a sequential test may answer its question. If only a difference beyond the threshold
 * counts, `faster` and `slower` stay open until their whole interval lies there.
 */
export function isOpen({ verdict, byMoreThanThreshold }: Judgement, isBeyond = false): boolean {
  return verdict === 'undecided' || (isBeyond && verdict !== 'same' && !byMoreThanThreshold);
}

/** Counts the rounds whose differences are known only within bounds, and those that have no bound above or below. */
export function countInvalid(differences: Differences): Pick<Compared, 'bounded' | 'unbounded'> {
  let [bounded, unbounded] = [0, 0];
  for (const difference of differences) {
    const { low, high } = difference ?? { low: -Infinity, high: Infinity };
    if (!isBounded({ low, high })) unbounded++;
    else if (low < high) bounded++;
  }
  return { bounded, unbounded };
}

/** Returns the comparison of the baseline with the candidate. */
export function reverseComparison(comparison: Comparison): Comparison {
  const { estimate, interval, ratio, mean, dear } = comparison;
  const turned = {
    ...comparison,
    ...(mean && { mean: { estimate: 1 / mean.estimate, interval: invert(mean.interval) } }),
    ...(dear && { dear: { ...dear, isCandidate: !dear.isCandidate } }),
    ...(estimate !== undefined && { estimate: -estimate }),
    ...(interval && { interval: { low: -interval.high, high: -interval.low } }),
    ...(ratio && {
      ratio: {
        estimate: 1 / ratio.estimate,
        ...(ratio.interval && { interval: invert(ratio.interval) }),
        range: invert(ratio.range),
      },
    }),
  };
  if (turned.verdict !== 'faster' && turned.verdict !== 'slower') return turned;
  return { ...turned, verdict: turned.verdict === 'faster' ? 'slower' : 'faster' };
}

function invert({ low, high }: Interval): Interval {
  return { low: 1 / high, high: 1 / low };
}

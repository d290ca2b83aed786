/** The result of a comparison: its figures, and its verdict or the reason for having none. */
import type { MetricId } from 'bench-model/metrics';
import type { Judgement, Ratio } from './verdict.ts';
import type { Interval } from 'bench-model/interval';
import type { Dear } from './differences.ts';

interface Compared {
  /** The rounds that it rests on, whether their figures are valid or not. */
  rounds: number;
  /** The invalid ones without a bound above or below, such as failed trials: there they count as the worst difference. */
  unbounded: number;
  /** The ratio of the means, candidate ÷ baseline in the unit of the metric; absent if too few rounds tell. */
  mean?: MeanRatio;
  /** The rounds that lie apart from the others, if any do. */
  dear?: Dear;
  /** What a known cost in turns of the baseline was read as; absent if none was planted. */
  control?: ControlReading;
  /** Of a comparison by cost: its verdict is that of cost and time together, while all other figures are those of the cost. */
  whole?: Whole;
}

/** What was planted into turns of the baseline, and what was read of it, as factors of the cost: 1.02 is 2 % more. */
export interface ControlReading {
  planted: number;
  read: number;
  /** Absent with one round. */
  interval?: Interval;
  isBlind: boolean;
}

export interface Timed {
  by: MetricId;
  /** True if only `slower` counts: few rounds show that the slowest responses are the same. */
  isGuard: boolean;
  comparison: Comparison;
}

/** The verdict on the cost alone, and what else the whole verdict has. */
export interface Whole {
  cost: Comparison['verdict'];
  /** What does not follow from the cost. */
  times: readonly Timed[];
  /** The rates that the servers served, candidate ÷ baseline; absent if they are alike, or follow from the cost: CPU per request depends on them. */
  rate?: number;
}

/** The factor of the means with its interval. */
export interface MeanRatio {
  estimate: number;
  interval: Interval;
}

/** A comparison with a verdict. `estimate` and `interval` are log ratios; above 0 the candidate is worse. Time alone leaves no interval. */
export interface Decided extends Compared {
  verdict: 'faster' | 'slower' | 'same';
  byMoreThanThreshold: boolean;
  estimate: number;
  interval?: Interval;
  ratio: Ratio;
}

/** A comparison without a verdict. Only `wide`, `mean` and `time` have an interval; without rounds there is no estimate. */
export interface Undecided extends Compared {
  verdict: 'undecided';
  byMoreThanThreshold: false;
  /**
   * `unbounded`: too many rounds have no bound for an interval that holds whatever their differences were. `mean`: the typical
   * process has a verdict, and the mean of all does not agree. `time`: the cost has one, and the latency may be worse.
   * `blind`: the known cost in turns of the baseline was not read back.
   */
  why: 'too-few-rounds' | 'unbounded' | 'wide' | 'mean' | 'time' | 'blind';
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

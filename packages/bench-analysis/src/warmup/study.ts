/** The input and the results of a study of warm-up. Ratios are to a warm reference on the same core; 1 is equal. */
import type { Interval } from 'bench-model/interval';

/** One pair of neighbouring spans: the fresh process, and the warm reference on the same core. */
export interface WarmPair {
  /** Seconds since the first request of the process, at the middle of its span. */
  seconds: number;
  /** Answers of the process since its start, at the end of its span. */
  answers: number;
  /** CPU per request, fresh ÷ reference. */
  cpuRatio: number;
  /** Goodput, fresh ÷ reference. */
  goodputRatio: number;
  /** CPU per request of the reference, in µs. */
  referenceUs: number;
  /** The age before it, if the pairs right before it do not count: what the process cost until then was not seen. */
  since?: Age;
}

/** The pairs of one process, in order of time. */
export interface ProcessSeries {
  pairs: readonly WarmPair[];
}

/**
 * The class of one process, after Barrett et al. (OOPSLA 2017):
 * - `flat`: within 5 % of one level throughout.
 * - `warm-up`: an earlier level is dearer than the last.
 * - `slowdown`: earlier levels are cheaper than the last, or the cost rises to the end.
 * - `no steady state`: the last level does not last long enough.
 */
export type WarmClass = 'flat' | 'warm-up' | 'slowdown' | 'no steady state';

/** A positive ratio with its 95 % interval, which is absent if there are too few data. */
export interface RatioEstimate {
  ratio: number;
  interval?: Interval;
}

/** A stretch of a process's life at one cost. */
export interface WarmLevel {
  fromSeconds: number;
  toSeconds: number;
  /** CPU per request, fresh ÷ reference. */
  cpuRatio: number;
}

/** The age of a process. */
export interface Age {
  seconds: number;
  answers: number;
}

/** The course of one process. */
export interface ProcessStudy {
  class: WarmClass;
  /** In order of time, without gaps. Neighbours may differ by less than 5 %. */
  levels: WarmLevel[];
  /** The length of the series, and the answers in it. */
  studied: Age;
  /** The age from which the cost stays within 5 % of the last level; absent if it did not settle. */
  warm?: Age;
  /** The direction of the cost at the end of a process that did not settle; absent if it has none. */
  moving?: 'cheaper' | 'dearer';
  /** CPU per request at the last level, fresh ÷ reference. */
  lastCpu: RatioEstimate;
  /** Goodput over the same time, fresh ÷ reference. */
  lastGoodput: RatioEstimate;
  /** CPU per request, last level ÷ level right after the default warm-up; absent without pairs there. */
  lastOverEarlyCpu?: RatioEstimate;
  /** Goodput over the same times, last level ÷ level right after the default warm-up. */
  lastOverEarlyGoodput?: RatioEstimate;
}

/** The median and the range of a figure over processes. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** The course of several processes of one target. */
export interface TargetStudy {
  /** The class that all processes share, or `inconsistent`. */
  class: WarmClass | 'inconsistent';
  /** The number of processes of each class. */
  classes: Record<WarmClass, number>;
  processes: ProcessStudy[];
  /** The number of processes that settled. */
  settled: number;
  /** Seconds and answers until warm, over the processes that settled; absent if none did. */
  warmSeconds?: Spread;
  warmAnswers?: Spread;
  /** Ratios of the last level, over all processes. */
  lastCpu: Spread;
  lastGoodput: Spread;
  /** Last level ÷ level right after the default warm-up: the mean over processes, with its interval. */
  lastOverEarlyCpu?: RatioEstimate;
  lastOverEarlyGoodput?: RatioEstimate;
}

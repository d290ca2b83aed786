import type { Metric } from '../metrics.ts';
import type { Interval } from '../numbers.ts';
import { makesLowerBound } from '../reasons.ts';
import type { Trial } from '../results/record.ts';

/** The figure of one trial for a metric. */
export interface TrialFigure {
  value: number;
  /** False if a reason invalidates it. */
  valid: boolean;
  /** True if the value is a lower bound: goodput limited by the generator, the upstream or the database, or a latency among requests without an answer. */
  atLeast: boolean;
}

/** Returns the figure of a trial for a metric; undefined if the trial failed or did not measure it. */
export function figureOf(trial: Trial, { id, from, isLowerBound }: Metric): TrialFigure | undefined {
  if (trial.status === 'failed') return undefined;
  const value = from(trial.measured);
  if (value === undefined) return undefined;
  return {
    value,
    valid: !trial.reasons.some(({ invalidates }) => invalidates.includes(id)),
    atLeast:
      trial.reasons.some((reason) => makesLowerBound(reason, id)) || isLowerBound?.(trial.measured) === true,
  };
}

/** A figure whose true value lies between `low` and `high`, in the unit of the metric; all are equal if it is valid. */
export interface BoundedFigure extends Interval {
  value: number;
}

/**
 * Returns the figure of a trial with its bounds: a lower bound has none above, an invalid figure none at all. Undefined if the
 * trial failed or did not measure it.
 */
export function boundFigure(trial: Trial, metric: Metric): BoundedFigure | undefined {
  const figure = figureOf(trial, metric);
  if (figure === undefined) return undefined;
  const { value, valid, atLeast } = figure;
  if (atLeast) return { value, low: value, high: Infinity };
  return valid ? exact(value) : { value, low: 0, high: Infinity };
}

/** Returns a figure that is valid. */
export function exact(value: number): BoundedFigure {
  return { value, low: value, high: value };
}

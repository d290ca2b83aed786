import type { Metric } from '../metrics.ts';
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

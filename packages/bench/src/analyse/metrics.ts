import type { Metric } from '../metrics.ts';
import { makesLowerBound } from '../reasons.ts';
import type { Trial } from '../model.ts';

/** What one trial gives for a metric. */
export interface TrialFigure {
  value: number;
  /** False when a reason spoils it. */
  valid: boolean;
  /** Whether the value is a lower bound: goodput that generator, upstream or database held back, a percentile among the timeouts. */
  atLeast: boolean;
}

/** What a trial gives for a metric; undefined when it failed or did not measure it. */
export function figureOf(trial: Trial, { id, from }: Metric): TrialFigure | undefined {
  if (trial.status === 'failed') return undefined;
  const value = from(trial.measured);
  if (value === undefined) return undefined;
  return {
    value,
    valid: !trial.reasons.some(({ invalidates }) => invalidates.includes(id)),
    atLeast:
      trial.reasons.some((reason) => makesLowerBound(reason, id)) ||
      (trial.measured.load.latencyUs?.atLeast?.includes(id) ?? false),
  };
}

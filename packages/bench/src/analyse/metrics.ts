import type { Metric } from '../metrics.ts';
import type { Trial } from '../model.ts';

/** What one trial gives for a metric. */
export interface TrialFigure {
  value: number;
  /** False when a reason spoils it. */
  valid: boolean;
  /** Whether the value is a lower bound: goodput that generator, upstream or database held back, a percentile among the timeouts. */
  atLeast: boolean;
}

/** What held goodput back when it was not the server. */
const LOWER_BOUNDS = ['generator-bound', 'upstream-bound', 'database-bound'];

/** What a trial gives for a metric; undefined when it failed or did not measure it. */
export function figureOf(trial: Trial, { id, from }: Metric): TrialFigure | undefined {
  if (trial.status === 'failed') return undefined;
  const value = from(trial.measured);
  if (value === undefined) return undefined;
  return {
    value,
    valid: !trial.reasons.some(({ invalidates }) => invalidates.includes(id)),
    atLeast:
      id === 'goodput'
        ? trial.reasons.some(({ code }) => LOWER_BOUNDS.includes(code))
        : (trial.measured.load.latencyUs?.atLeast?.includes(id) ?? false),
  };
}

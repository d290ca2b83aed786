import type { Metric } from 'bench-model/metrics';
import { sum } from 'bench-statistics/numbers';
import type { Interval } from 'bench-model/interval';
import { boundFactors, cancelsInTurns, isFatal, makesLowerBound } from 'bench-model/reasons';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';

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
 * Returns the figure of a trial with its bounds: a lower bound has none above, a percentile that a late generator
 * invalidates has known ones, any other invalid figure those that its reasons leave: maybe 0 and Infinity. Undefined if the trial failed or did not measure it.
 */
export function boundFigure(trial: Trial, metric: Metric): BoundedFigure | undefined {
  const figure = figureOf(trial, metric);
  if (figure === undefined) return undefined;
  const { value, valid, atLeast } = figure;
  if (valid && !atLeast) return exact(value);
  const least = atLeast ? undefined : leastOf(trial, metric, value);
  if (least !== undefined) return { value, low: least, high: value };
  const { low, high } = boundFactors(trial.reasons, metric.id);
  return { value, low: value * low, high: atLeast ? Infinity : value * high };
}

/**
 * Returns the same for a ratio with the figure of a server that took turns with this one: what affected both alike does
 * not count.
 */
export function boundFigureInTurns(trial: Trial, metric: Metric): BoundedFigure | undefined {
  if (trial.status !== 'suspect') return boundFigure(trial, metric);
  const reasons = trial.reasons.filter((reason) => !cancelsInTurns(reason, metric.id));
  return boundFigure({ ...trial, reasons }, metric);
}

/** Returns the reasons that leave the figure of a trial without a bound above or below: of a failed trial, those for its failure. */
export function openReasons(trial: Trial, metric: Metric): Reason[] {
  if (trial.status === 'failed') return trial.reasons.filter(isFatal);
  const { low = 0, high = Infinity } = boundFigure(trial, metric) ?? {};
  if (low > 0 && high < Infinity) return [];
  return trial.reasons.filter((reason) => {
    const factors = boundFactors([reason], metric.id);
    return factors.low === 0 || factors.high === Infinity;
  });
}

/** Returns the percentile without the delays by the generator; undefined if the trial has other doubts about it. */
function leastOf(trial: Trial, { id }: Metric, most: number): number | undefined {
  if (trial.status === 'failed' || (id !== 'p50' && id !== 'p99')) return undefined;
  const isBounded = trial.reasons.every(
    ({ code, invalidates }) => code === 'late-generator' || !invalidates.includes(id),
  );
  if (!isBounded) return undefined;
  const { latencyAtLeastUs, schedule } = trial.measured.load;
  const delays = [latencyAtLeastUs, schedule?.sinceSentUs].map((one) => most - (one?.[id] ?? most));
  return Math.max(0, most - sum(delays));
}

/** Returns a figure that is valid. */
export function exact(value: number): BoundedFigure {
  return { value, low: value, high: value };
}

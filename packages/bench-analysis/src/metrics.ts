import { startsOnly } from 'bench-model/engines';
import { type Metric, METRICS, type MetricId, metricsOf } from 'bench-model/metrics';
import { sum } from 'bench-statistics/numbers';
import type { Interval } from 'bench-model/interval';
import { boundFactors, isFatal, makesLowerBound, meaningOf, type Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';

export interface TrialFigure {
  value: number;
  /** False if a reason invalidates it. */
  valid: boolean;
  /** True if the value is a lower bound: goodput limited by the generator, the upstream or the database, or a latency among requests without a response. */
  atLeast: boolean;
}

const OF_LOAD = metricsOf('pace', 'cpu');

/** Returns the figure of a trial for a metric; undefined if the trial failed or did not measure it. */
export function figureOf(
  trial: Trial,
  { id, from, isLowerBound }: Metric,
  reasons: readonly Reason[] = trial.reasons,
): TrialFigure | undefined {
  if (trial.status === 'failed') return undefined;
  const value = from(trial.measured);
  if (value === undefined || (startsOnly(trial.load) && OF_LOAD.includes(id))) return undefined;
  return {
    value,
    valid: !reasons.some(({ invalidates }) => invalidates.includes(id)),
    atLeast: reasons.some((reason) => makesLowerBound(reason, id)) || isLowerBound?.(trial.measured) === true,
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
export function boundFigure(
  trial: Trial,
  metric: Metric,
  reasons: readonly Reason[] = trial.reasons,
): BoundedFigure | undefined {
  const figure = figureOf(trial, metric, reasons);
  if (figure === undefined) return undefined;
  const { value, valid, atLeast } = figure;
  if (valid && !atLeast) return exact(value);
  const least = atLeast ? undefined : leastOf(trial, { id: metric.id, reasons, most: value });
  if (least !== undefined) return { value, low: least, high: value };
  const { low, high } = boundFactors(reasons, metric.id);
  return { value, low: value * low, high: atLeast ? Infinity : value * high };
}

/**
 * Returns the reasons that count in a ratio with the figure of a server that took turns with this one: not those that affected
 * both alike. `counted` are the reasons against the other one: what either of the two caused counts once.
 */
export function reasonsInTurns({ reasons }: Trial, { id }: Metric, counted: readonly Reason[]): Reason[] {
  return reasons.filter(
    (reason) =>
      !meaningOf(reason).cancelsInTurns?.includes(id) && !counted.some((other) => isSameDoubt(reason, other)),
  );
}

/** Returns true if two servers have the doubt of a pair: either of them changed, by the same factor. */
function isSameDoubt(one: Reason, other: Reason): boolean {
  const [own, others] = [one, other].map(({ bounds }) => bounds?.cpu?.high ?? Infinity) as [number, number];
  return one.code === 'ratio-trend' && other.code === one.code && Math.abs(own / others - 1) < 1e-9;
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
function leastOf(
  trial: Trial,
  { id, reasons, most }: { id: MetricId; reasons: readonly Reason[]; most: number },
): number | undefined {
  if (trial.status === 'failed' || (id !== 'p50' && id !== 'p99')) return undefined;
  const isBounded = reasons.every(
    ({ code, invalidates }) => code === 'late-generator' || !invalidates.includes(id),
  );
  if (!isBounded) return undefined;
  const { latencyAtLeastUs, schedule } = trial.measured.load;
  const delays = [latencyAtLeastUs, schedule?.sinceSentUs].map((one) => most - (one?.[id] ?? most));
  return Math.max(0, most - sum(delays));
}

/** Returns the CPU per request of a trial with that of the database and the services of its server. */
export function withServices({ value, low, high }: BoundedFigure, trial: Trial): BoundedFigure {
  const part = figureOf(trial, METRICS.services)?.value ?? 0;
  return { value: value + part, low: low + part, high: high + part };
}

/** Returns a figure that is valid. */
export function exact(value: number): BoundedFigure {
  return { value, low: value, high: value };
}

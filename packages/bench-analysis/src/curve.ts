/** Latency and CPU at shares of the capacity, over the trials of a row. */
import type { Limit } from 'bench-model/measured';
import { present } from 'bench-model/options';
import type { Trial } from 'bench-model/record';
import { median } from 'bench-statistics/numbers';
import { byFrequency } from './summary.ts';

/** The open loops at one share of the capacity: medians of the trials. A figure that fewer than half of them have is absent. */
export interface CurvePoint {
  share: number;
  perSecond: number;
  p50?: number;
  p99?: number;
  'p99.9'?: number;
  cpu?: number;
  /** The most frequent one. */
  limit: Limit;
}

/** Summarises the open loops of trials by their share, the lowest first; empty without any. */
export function summariseCurve(trials: readonly Trial[]): CurvePoint[] {
  const points = trials.flatMap((trial) =>
    trial.status === 'failed' ? [] : (trial.measured.capacity?.curve ?? []),
  );
  return [...Map.groupBy(points, ({ share }) => share)]
    .toSorted(([a], [b]) => a - b)
    .map(([share, own]): CurvePoint => {
      const middle = (values: readonly (number | undefined)[]): number | undefined => {
        const known = values.filter((value) => value !== undefined);
        return known.length * 2 < own.length || known.length === 0 ? undefined : median(known);
      };
      return {
        share,
        perSecond: median(own.map(({ perSecond }) => perSecond)),
        ...present({
          p50: middle(own.map(({ p50Us }) => p50Us)),
          p99: middle(own.map(({ p99Us }) => p99Us)),
          'p99.9': middle(own.map(({ p99_9Us }) => p99_9Us)),
          cpu: middle(own.map(({ cpuUsPerRequest }) => cpuUsPerRequest)),
        }),
        limit: byFrequency(own.map(({ limit }) => limit))[0] ?? 'unknown',
      };
    });
}

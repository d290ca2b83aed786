/** Latency and CPU over load, over the trials of a row. */
import type { Limit, Measured, OpenLoop } from 'bench-model/measured';
import { present } from 'bench-model/options';
import type { Trial } from 'bench-model/record';
import { median } from 'bench-statistics/numbers';
import { byFrequency } from './summary.ts';

/** The open loops at one load: medians of the trials. A figure that one of them does not have is absent. */
export interface CurvePoint {
  /** Of the capacity; absent for a rate. */
  share?: number;
  perSecond: number;
  /** Correct responses. */
  served: number;
  p50?: number;
  p99?: number;
  'p99.9'?: number;
  cpu?: number;
  /** The most frequent one. */
  limit: Limit;
}

/** Summarises the open loops of trials at the loads of --rate, the lowest first; empty without any. */
export function summariseCurve(trials: readonly Trial[]): CurvePoint[] {
  const points = trials.flatMap((trial): CurveLoop[] => {
    if (trial.status === 'failed' || trial.measured.curve === undefined) return [];
    const { load } = trial;
    const main = load.mode === 'open' ? [describeMain(load.perSecond, trial.measured)] : [];
    return [...main, ...trial.measured.curve];
  });
  return [...Map.groupBy(points, ({ share, perSecond }) => share ?? perSecond).values()]
    .map(summarise)
    .toSorted((a, b) => a.perSecond - b.perSecond);
}

function summarise(own: readonly CurveLoop[]): CurvePoint {
  const middle = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length < own.length ? undefined : median(known);
  };
  return {
    ...present({ share: own[0]?.share }),
    perSecond: median(own.map(({ perSecond }) => perSecond)),
    served: median(own.map(({ servedPerSecond }) => servedPerSecond)),
    p50: middle(own.map(({ p50Us }) => p50Us)),
    p99: middle(own.map(({ p99Us }) => p99Us)),
    'p99.9': middle(own.map(({ p99_9Us }) => p99_9Us)),
    cpu: middle(own.map(({ cpuUsPerRequest }) => cpuUsPerRequest)),
    limit: byFrequency(own.map(({ limit }) => limit))[0] ?? 'unknown',
  };
}

/** The fields of an open loop that a curve shows. */
type CurveLoop = Pick<
  OpenLoop,
  'perSecond' | 'servedPerSecond' | 'p50Us' | 'p99Us' | 'p99_9Us' | 'cpuUsPerRequest' | 'limit'
> & { share?: number };

function describeMain(perSecond: number, { load, cpuUsPerRequest, limit }: Measured): CurveLoop {
  const { p50, p99, p99_9 } = load.latencyUs ?? {};
  return {
    perSecond,
    servedPerSecond: load.goodputPerSecond,
    limit,
    ...present({ p50Us: p50, p99Us: p99, p99_9Us: p99_9, cpuUsPerRequest }),
  };
}

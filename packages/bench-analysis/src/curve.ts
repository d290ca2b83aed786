/** Latency and CPU over load, and what limits a server beyond its capacity, over the trials of a row. */
import type { FoundCapacity, Limit, Measured, OpenLoop, Step } from 'bench-model/measured';
import { present } from 'bench-model/options';
import type { Trial } from 'bench-model/record';
import { BUSY_SERVER, FULL } from 'bench-model/saturation';
import { median, sum } from 'bench-statistics/numbers';
import { byFrequency } from './summary.ts';

/** The open loops at one load: medians of the trials. A figure that one of them does not have is absent. */
export interface CurvePoint {
  /** Of the capacity; absent for a rate. */
  share?: number;
  perSecond: number;
  /** Right answers. */
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
    ...present({
      p50: middle(own.map(({ p50Us }) => p50Us)),
      p99: middle(own.map(({ p99Us }) => p99Us)),
      'p99.9': middle(own.map(({ p99_9Us }) => p99_9Us)),
      cpu: middle(own.map(({ cpuUsPerRequest }) => cpuUsPerRequest)),
    }),
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

/** What keeps a server from carrying more. */
export type Knee =
  | { by: 'generator'; busy: number }
  | { by: 'accept-queue'; overflows: number }
  | { by: 'server'; usedCores: number; usableCores: number }
  | { by: 'connections' | 'pool'; atOnce: number; usedCores?: number }
  | { by: Exclude<Limit, 'server' | 'generator' | 'waiting' | 'unknown'> };

/** A search stops before the load generator is saturated, by up to this share of its CPU. */
const NEARLY = 0.8;
/** The share of the connections that requests must use at once to be limited by them. */
const ALL_CONNECTIONS = 0.9;
/** The share of the budget up to which a server waits for something else. */
const IDLE_SERVER = 0.5;

/**
 * Finds what keeps a server from carrying more, from the steps beyond its capacity; undefined if they do not tell. By Little's law, a server
 * without a saturated CPU works on as many requests at once as it answers in the time of one: the connections, or a pool.
 */
export function findKnee(trials: readonly Trial[]): Knee | undefined {
  const searches = trials.flatMap((trial) => {
    const { capacity } = (trial.status !== 'failed' && trial.measured) || {};
    return capacity === undefined ? [] : [{ ...capacity, connections: trial.connections }];
  });
  const steps = searches.flatMap((search) => search.steps);
  const generatorBusy = Math.max(0, ...steps.map((step) => step.generatorBusy));
  if (searches.some(({ bound }) => bound === 'at least') && generatorBusy > NEARLY * FULL)
    return { by: 'generator', busy: generatorBusy };
  const beyond = searches.flatMap((search) => search.steps.filter((step) => isBeyond(step, search)));
  if (beyond.length === 0) return undefined;
  const overflows = sum(beyond.map(({ listenOverflows = 0 }) => listenOverflows));
  if (overflows > 0) return { by: 'accept-queue', overflows };
  const [limit] = byFrequency(beyond.map((step) => step.limit));
  const budgets = beyond.flatMap(({ budget }) => budget ?? []);
  if (budgets.length === 0) return undefined;
  const used = median(budgets.map(({ usedCores }) => usedCores));
  const usable = median(budgets.map(({ usableCores }) => usableCores));
  if (limit === 'server' || used >= BUSY_SERVER * usable)
    return { by: 'server', usedCores: used, usableCores: usable };
  if (limit !== undefined && limit !== 'waiting' && limit !== 'unknown' && limit !== 'generator')
    return { by: limit };
  if (used >= IDLE_SERVER * usable) return undefined;
  const fastest = Math.min(...steps.map(({ p50Us = Infinity }) => p50Us));
  const atOnce = (median(searches.map(({ pacePerSecond }) => pacePerSecond)) * fastest) / 1e6;
  const connections = median(searches.map((search) => search.connections));
  const by = atOnce >= ALL_CONNECTIONS * connections ? 'connections' : 'pool';
  return Number.isFinite(atOnce) ? { by, atOnce, usedCores: used } : undefined;
}

/** Returns true for a step whose rate is not below the capacity, or that broke the promise. */
function isBeyond(step: Step, { perSecond }: FoundCapacity): boolean {
  return step.perSecond >= perSecond && step.brokenShare > 0;
}

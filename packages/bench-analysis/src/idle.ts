/** Why an idle server answers slowly: what its latency under load and without a load tell together. Pure. */
import type { LoadResult } from 'bench-model/load';
import type { Measured } from 'bench-model/measured';
import { isHeldBack, opensEach } from './judge/judge.ts';

/** A likely cause. */
export type Idle =
  /** It serves about so many requests at a time, and the others wait. */
  | { cause: 'queue'; atOnce: number; aloneUs: number }
  /** Nearly all answers take the same time, with and without other requests. */
  | { cause: 'pause'; us: number }
  /** Each request waits, for a time that varies, with and without other requests. */
  | { cause: 'wait'; us: number };

/** Under load, an answer that takes this many times as long as alone has waited for others. */
const QUEUED = 1.8;
/** The most by which the slowest tenth of answers exceeds the median if all wait for the same time. */
const EVEN = 1.15;

/** A generator that is busier than this may be what answers wait for. */
const MOST_BUSY = 0.5;

/** The part of a window that explains its latency. */
type Explained = Pick<Measured, 'alone' | 'limit' | 'cpuUsPerRequest'> & {
  load: Pick<LoadResult, 'latencyUs' | 'goodputPerSecond' | 'connect' | 'generators'> &
    Partial<Pick<LoadResult, 'counts' | 'opened' | 'schedule'>> & { routes?: readonly unknown[] | undefined };
};

/** The latency under load that is compared with that without one, in µs: of a mix, the mean, which adds up like its times. */
export function typicalUs({
  latencyUs,
  routes = [],
}: Pick<Explained['load'], 'latencyUs' | 'routes'>): number {
  return (routes.length > 1 ? latencyUs?.mean : latencyUs?.p50) ?? 0;
}

/**
 * Explains the latency of a window. Undefined if the server was not asked without a load, if its answers were held back for an
 * acknowledgement, took their time in the transfer of their bodies or in computing, and if it was not only the server that was
 * idle.
 */
export function explainIdle({ load, alone, limit, cpuUsPerRequest = 0 }: Explained): Idle | undefined {
  const us = typicalUs(load);
  if (alone === undefined || us === 0) return undefined;
  const isFresh = opensEach(load);
  if (!isFresh && isHeldBack(alone)) return undefined;
  const aloneUs = isFresh ? alone.freshUs : alone.keptUs;
  const isBusy = load.generators.some(({ utilisation = 0 }) => utilisation > MOST_BUSY);
  if (isBusy || limit === 'others' || Math.max(alone.bodyUs, cpuUsPerRequest) > aloneUs / 2) return undefined;
  // Little's law (Little 1961): requests in service = rate × time of service.
  const atOnce = (load.goodputPerSecond * aloneUs) / 1e6;
  // In an open loop, as many as are open on average, and no more than it has connections: the others wait in the generator.
  const open = Math.min(load.connect.planned, load.schedule?.meanOpen ?? Infinity);
  if (us > QUEUED * aloneUs && atOnce < open / QUEUED)
    return { cause: 'queue', atOnce: Math.max(1, Math.round(atOnce)), aloneUs };
  // Slower alone than under load: something else disturbed one of the two. Slower under load: it is not idle in each request.
  if (aloneUs > QUEUED * us || us > QUEUED * aloneUs) return undefined;
  const { p90 } = load.latencyUs ?? {};
  const isEven = p90 !== undefined && p90 <= EVEN * us && Math.abs(us / aloneUs - 1) <= EVEN - 1;
  return { cause: isEven ? 'pause' : 'wait', us };
}

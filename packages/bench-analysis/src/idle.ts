/** Why an idle server answers slowly: what its latency under load and without a load tell together. Pure. */
import type { LoadResult } from 'bench-model/load';
import type { Measured } from 'bench-model/measured';
import { isHeldBack, opensEach } from './judge/judge.ts';

/** An idle server that serves about so many requests at a time, while the others wait. */
export interface Idle {
  atOnce: number;
  /** The time of a response alone. */
  aloneUs: number;
}

/** Under load, a response that takes this many times as long as alone has waited for others. */
const QUEUED = 1.8;

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
 * Explains the latency of a window. Undefined if requests do not wait for each other, if the server was not asked without a load, if
 * its responses were held back for an acknowledgement, took their time in the transfer of their bodies or in computing, and if it was not only the server that was
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
  const isQueue = us > QUEUED * aloneUs && atOnce < open / QUEUED;
  return isQueue ? { atOnce: Math.max(1, Math.round(atOnce)), aloneUs } : undefined;
}

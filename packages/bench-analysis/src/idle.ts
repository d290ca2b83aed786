/** Why an idle server answers slowly: what its latency under load and without a load tell together. Pure. */
import type { LoadResult } from 'bench-model/load';
import type { Measured } from 'bench-model/measured';
import { isHeldBack } from './judge/judge.ts';

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
type Explained = Pick<Measured, 'alone' | 'limit'> & {
  load: Pick<LoadResult, 'latencyUs' | 'goodputPerSecond' | 'connect' | 'generators'>;
};

/**
 * Explains a window of a closed loop. Undefined if the server was not asked without a load, if its answers were held back for an
 * acknowledgement or took their time in the transfer of their bodies, and if it was not only the server that was idle.
 */
export function explainIdle({ load, alone, limit }: Explained): Idle | undefined {
  const { p50, p90 } = load.latencyUs ?? {};
  if (alone === undefined || p50 === undefined || isHeldBack(alone)) return undefined;
  const { keptUs, bodyUs } = alone;
  const isBusy = load.generators.some(({ utilisation = 0 }) => utilisation > MOST_BUSY);
  if (isBusy || limit === 'others' || bodyUs > keptUs / 2) return undefined;
  // Little's law (Little 1961): requests in service = rate × time of service.
  const atOnce = (load.goodputPerSecond * keptUs) / 1e6;
  if (p50 > QUEUED * keptUs && atOnce < load.connect.planned / QUEUED) {
    return { cause: 'queue', atOnce: Math.max(1, Math.round(atOnce)), aloneUs: keptUs };
  }
  // Slower alone than under load: something else disturbed one of the two.
  if (keptUs > QUEUED * p50) return undefined;
  const isEven = p90 !== undefined && p90 <= EVEN * p50 && Math.abs(p50 / keptUs - 1) <= EVEN - 1;
  return { cause: isEven ? 'pause' : 'wait', us: p50 };
}

/** The thresholds of saturation, and the cores that the generators use. */
import type { LoadResult } from './load.ts';

/** From this share on, a core or a budget of cores counts as saturated. */
export const FULL = 0.9;

/** Returns true if a process on the generators' cores used all that they left, and at least as much as they did. */
export function takesTheRest(coresUsed: number, cores: readonly number[], load: LoadResult): boolean {
  const generators = coresOfLoad(load);
  return coresUsed >= generators && coresUsed + generators >= FULL * cores.length;
}

/** The cores that all generators used together. */
export function coresOfLoad({ generators }: LoadResult): number {
  return generators.reduce((total, { cpuUs, seconds }) => total + cpuUs / 1e6 / seconds, 0);
}

/** The share of its budget from which a server that breaks a promise is taken to be limited by it: queues grow long before 100 %. */
export const BUSY_SERVER = 0.75;

/** When a resource counts as used up, and what the generators left of theirs. */
import type { LoadResult } from './results/record.ts';

/** The share of a core, or of a budget of cores, from which on it counts as saturated. */
export const FULL = 0.9;

/** Whether what runs on the generators' cores took everything that they left, and that was more than they had. */
export function takesTheRest(coresUsed: number, cores: readonly number[], load: LoadResult): boolean {
  const generators = coresOfLoad(load);
  return coresUsed >= generators && coresUsed + generators >= FULL * cores.length;
}

/** Cores that all generators used together. */
export function coresOfLoad({ generators }: LoadResult): number {
  return generators.reduce((sum, { cpuUs, seconds }) => sum + cpuUs / 1e6 / seconds, 0);
}

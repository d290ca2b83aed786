/** The cost of a busy neighbour: the same work on one core, while others are idle and while they are busy. */
import { estimateRatio } from 'bench-statistics/ratio';

/** The factor by which a busy neighbouring core raises the CPU time of the same work, with its 95 % confidence interval. */
export interface Slowdown {
  ratio: number;
  low: number;
  high: number;
}

/** Estimates the slowdown from pairs of turns, by Hodges-Lehmann of their log ratios; undefined for too few pairs. */
export function estimateSlowdown(pairs: readonly { idleUs: number; busyUs: number }[]): Slowdown | undefined {
  if (pairs.length === 0) return undefined;
  const { estimate, low, high } = estimateRatio(pairs.map(({ idleUs, busyUs }) => [busyUs, idleUs]));
  return low === undefined || high === undefined ? undefined : { ratio: estimate, low, high };
}

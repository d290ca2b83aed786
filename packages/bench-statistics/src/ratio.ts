import { estimateCentre, intervalBetween, trimFor, walshAverages } from './signed-rank.ts';

/** A ratio with its 95 % interval; the interval is absent with too few pairs. */
export interface Ratio {
  estimate: number;
  low?: number;
  high?: number;
}

const ALPHA = 0.05;

/** Estimates the ratio of pairs by Hodges and Lehmann, from their logarithms. Throws RangeError without pairs. */
export function estimateRatio(pairs: readonly (readonly [number, number])[]): Ratio {
  const logs = pairs.map(([one, other]) => Math.log(one / other));
  const estimate = Math.exp(estimateCentre(logs));
  const trim = trimFor(logs.length, ALPHA);
  if (trim === undefined) return { estimate };
  const averages = walshAverages(logs);
  const { low, high } = intervalBetween(averages, averages, trim);
  return { estimate, low: Math.exp(low), high: Math.exp(high) };
}

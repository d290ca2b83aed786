import { estimateCentre, intervalWithin, trimFor, walshAverages } from './signed-rank.ts';

/** A ratio with its 95 % interval; the interval is absent with too few pairs. */
export interface Ratio {
  estimate: number;
  low?: number;
  high?: number;
}

const ALPHA = 0.05;

/** Estimates the ratio of pairs by Hodges and Lehmann, from their logarithms. Throws RangeError without pairs. */
export function estimateRatio(pairs: readonly (readonly [number, number])[]): Ratio {
  const averages = walshAverages(pairs.map(([one, other]) => Math.log(one / other)));
  const estimate = Math.exp(estimateCentre(averages));
  const trim = trimFor(pairs.length, ALPHA);
  if (trim === undefined) return { estimate };
  const { low, high } = intervalWithin(averages, trim);
  return { estimate, low: Math.exp(low), high: Math.exp(high) };
}

/** Returns true if the interval of a ratio lies within this share of the estimate on both sides. */
export function isKnownTo({ estimate, low, high }: Ratio, share: number): boolean {
  return (
    low !== undefined && high !== undefined && low >= estimate / (1 + share) && high <= estimate * (1 + share)
  );
}

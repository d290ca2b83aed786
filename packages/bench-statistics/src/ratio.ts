import { locateCentre } from './signed-rank.ts';

/** A ratio with its 95 % interval; the interval is absent with too few pairs. */
export interface Ratio {
  estimate: number;
  low?: number;
  high?: number;
}

const ALPHA = 0.05;

/** Estimates the ratio of pairs by Hodges and Lehmann, from their logarithms. Throws RangeError without pairs. */
export function estimateRatio(pairs: readonly (readonly [number, number])[]): Ratio {
  const { centre, interval } = locateCentre(
    pairs.map(([one, other]) => Math.log(one / other)),
    ALPHA,
  );
  return {
    estimate: Math.exp(centre),
    ...(interval && { low: Math.exp(interval.low), high: Math.exp(interval.high) }),
  };
}

/** Returns true if the interval of a ratio lies within this share of the estimate on both sides. */
export function isKnownTo({ estimate, low, high }: Ratio, share: number): boolean {
  return (
    low !== undefined && high !== undefined && low >= estimate / (1 + share) && high <= estimate * (1 + share)
  );
}

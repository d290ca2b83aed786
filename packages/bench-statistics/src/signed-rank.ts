/**
 * Statistics of paired differences that are symmetric about their centre: the exact test (Wilcoxon 1945), the estimate (Hodges &
 * Lehmann 1963) and the interval that inverts the test. All use the Walsh averages, so test, estimate and
 * interval cannot contradict each other.
 */
import type { Interval } from 'bench-model/interval';
import { select } from './numbers.ts';

const tails = new Map<number, Float64Array>();

/**
 * P(T ≤ t) for t = 0 … n(n+1)/2, where T is the signed-rank sum of `n` differences symmetric about 0, by exact
 * recursion over the ranks. Throws RangeError unless `n` is a non-negative integer.
 */
export function signedRankTail(n: number): Float64Array {
  if (!Number.isSafeInteger(n) || n < 0)
    throw new RangeError(`the number of differences must be a non-negative integer, not ${n}`);
  const known = tails.get(n);
  if (known) return known;

  const tail = new Float64Array((n * (n + 1)) / 2 + 1);
  tail[0] = 1;
  for (let rank = 1; rank <= n; rank++) {
    for (let sum = (rank * (rank + 1)) / 2; sum >= 0; sum--) {
      tail[sum] = (tail[sum]! + (sum >= rank ? tail[sum - rank]! : 0)) / 2;
    }
  }
  for (let sum = 1; sum < tail.length; sum++) tail[sum]! += tail[sum - 1]!;
  tails.set(n, tail);
  return tail;
}

/**
 * The number of Walsh averages that the interval of `n` differences omits at each end, so that it misses the centre
 * with probability at most `alpha`: the largest k with 2 P(T ≤ k) ≤ alpha. Undefined if `n` is too small.
 */
export function trimFor(n: number, alpha: number): number | undefined {
  // The slack lets a level that was computed as 2 P(T ≤ k) return the same k.
  const allowed = (alpha / 2) * (1 + 1e-9);
  const k = signedRankTail(n).findIndex((tail) => tail > allowed) - 1;
  return k < 0 ? undefined : k;
}

/** The two-sided error of the interval that omits `k` Walsh averages at each end: 2 P(T ≤ k). */
export function errorOfTrim(n: number, k: number): number {
  const tail = signedRankTail(n);
  return Math.min(1, 2 * tail[Math.min(k, tail.length - 1)]!);
}

/** The n(n+1)/2 Walsh averages of n differences: the means of all pairs, each also with itself, in their unit. */
export function walshAverages(differences: readonly number[]): Float64Array {
  const n = differences.length;
  const averages = new Float64Array((n * (n + 1)) / 2);
  let at = 0;
  for (let row = 0; row < n; row++) {
    for (let other = row; other < n; other++) averages[at++] = (differences[row]! + differences[other]!) / 2;
  }
  return averages;
}

/** The Hodges-Lehmann estimate of the centre: the median of the Walsh averages. Throws RangeError for no differences. */
export function estimateCentre(differences: readonly number[]): number {
  const pairs = (differences.length * (differences.length + 1)) / 2;
  const { low, high } = trimmedInterval(differences, Math.max(0, (pairs - 1) >> 1));
  return low + (high - low) / 2;
}

/** The interval from W(k+1) to W(m−k) of the Walsh averages; its ends can be infinite. Throws RangeError if no averages remain. */
export function trimmedInterval(differences: readonly number[], k: number): Interval {
  const averages = walshAverages(differences);
  if (k >= averages.length - k)
    throw new RangeError(`${averages.length} averages cannot lose ${k} at each end`);
  return { low: select(averages, k), high: select(averages, averages.length - 1 - k) };
}

/** The centre of differences that are symmetric about it, with its interval. */
export interface Located {
  /** The Hodges-Lehmann estimate. */
  centre: number;
  /** Absent if there are too few differences for an interval of this error. */
  interval?: Interval;
}

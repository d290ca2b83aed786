/**
 * Statistics of paired differences that are symmetric about their centre: the exact test (Wilcoxon 1945), the estimate (Hodges &
 * Lehmann 1963) and the interval that inverts the test. All use the Walsh averages, so test, estimate and
 * interval cannot contradict each other.
 */
import { medianOfSorted } from '../numbers.ts';

/** A closed interval, in the unit of its sample. */
export interface Interval {
  low: number;
  high: number;
}

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
  const tail = signedRankTail(n);
  // The slack lets a level that was computed as 2 P(T ≤ k) return the same k.
  const allowed = (alpha / 2) * (1 + 1e-9);
  let k = -1;
  while (k + 1 < tail.length && tail[k + 1]! <= allowed) k++;
  return k < 0 || n === 0 ? undefined : k;
}

/** The two-sided error of the interval that omits `k` Walsh averages at each end: 2 P(T ≤ k). */
export function errorOfTrim(n: number, k: number): number {
  const tail = signedRankTail(n);
  return Math.min(1, 2 * tail[Math.min(k, tail.length - 1)]!);
}

/** The n(n+1)/2 means of all pairs of `differences`, each also with itself, sorted, in their unit. */
export function walshAverages(differences: readonly number[]): Float64Array {
  const n = differences.length;
  const averages = new Float64Array((n * (n + 1)) / 2);
  let at = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) averages[at++] = (differences[i]! + differences[j]!) / 2;
  }
  return averages.toSorted();
}

/** The Hodges-Lehmann estimate of the centre: the median of the sorted Walsh averages. Throws RangeError for no averages. */
export function estimateCentre(averages: Float64Array): number {
  return medianOfSorted(averages);
}

/** The interval W(k+1) … W(m−k) of the m sorted Walsh averages. Throws RangeError if no averages remain. */
export function intervalWithin(averages: Float64Array, k: number): Interval {
  const low = averages[k];
  const high = averages[averages.length - 1 - k];
  if (low === undefined || high === undefined || low > high) {
    throw new RangeError(`${averages.length} averages cannot lose ${k} at each end`);
  }
  return { low, high };
}

/**
 * The smallest error at which the interval of these sorted Walsh averages excludes 0: the two-sided exact p value.
 * Averages of exactly 0, from zeros and ties, count against both sides, which is conservative.
 */
export function signedRankP(averages: Float64Array): number {
  let notAbove = 0;
  let notBelow = 0;
  for (const average of averages) {
    if (average <= 0) notAbove++;
    if (average >= 0) notBelow++;
  }
  const n = Math.round((Math.sqrt(8 * averages.length + 1) - 1) / 2);
  return errorOfTrim(n, Math.min(notAbove, notBelow));
}

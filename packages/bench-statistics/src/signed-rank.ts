/**
 * Statistics of paired differences that are symmetric about their centre: the exact test (Wilcoxon 1945), the estimate (Hodges &
 * Lehmann 1963) and the interval that inverts the test. All use the Walsh averages, so test, estimate and
 * interval cannot contradict each other.
 */
import type { Interval } from 'bench-model/interval';
import { createRandom } from './random.ts';

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

  const tail = chancesOf(n).slice();
  for (let sum = 1; sum < tail.length; sum++) tail[sum]! += tail[sum - 1]!;
  tails.set(n, tail);
  return tail;
}

/** The recursion starts from the nearest of these numbers of ranks: the rows of a table often differ by a few rounds. */
const KEPT_EVERY = 64;
const kept = new Map([[0, Float64Array.of(1)]]);

/** P(T = t) for t = 0 … n(n+1)/2. */
function chancesOf(n: number): Float64Array {
  const known = kept.get(n);
  if (known) return known;

  const start = Math.floor((n - 1) / KEPT_EVERY) * KEPT_EVERY;
  const chances = new Float64Array((n * (n + 1)) / 2 + 1);
  chances.set(chancesOf(start));
  for (let rank = start + 1; rank <= n; rank++) {
    for (let sum = (rank * (rank + 1)) / 2; sum >= 0; sum--) {
      chances[sum] = (chances[sum]! + (sum >= rank ? chances[sum - rank]! : 0)) / 2;
    }
  }
  if (n % KEPT_EVERY === 0) kept.set(n, chances);
  return chances;
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

/** The number of Walsh averages of `n` differences to which one of `some` of them belongs. */
export function averagesWith(some: number, n: number): number {
  return some * (n - some) + (some * (some + 1)) / 2;
}

/** The two-sided error of the interval that omits `k` Walsh averages at each end: 2 P(T ≤ k). */
export function errorOfTrim(n: number, k: number): number {
  const tail = signedRankTail(n);
  return Math.min(1, 2 * tail[Math.min(k, tail.length - 1)]!);
}

/**
 * The n(n+1)/2 Walsh averages of n differences: the means of all pairs, each also with itself, in their unit. Those of many
 * differences are ordered without being listed: in each row of pairs of the sorted differences, the averages ascend.
 */
export interface WalshAverages {
  /** The number of averages. */
  count: number;
  /** Returns the average with this many smaller ones, from 0 on. Throws RangeError if there is none. */
  at(rank: number): number;
  /** Counts the averages below a value, and those not above it, in O(n). */
  countAround(value: number): { below: number; notAbove: number };
}

/** To list the averages of this many differences takes less time than to select a few of them from their rows. */
const MOST_LISTED = 64;

/** Orders the Walsh averages of differences. */
export function walshAverages(differences: readonly number[]): WalshAverages {
  const sorted = Float64Array.from(differences).toSorted();
  const n = sorted.length;
  const count = (n * (n + 1)) / 2;
  let listed: Float64Array | undefined;
  return {
    count,
    at(rank) {
      if (!(rank >= 0 && rank < count)) throw new RangeError(`${count} averages have none of rank ${rank}`);
      if (rank === 0 || rank === count - 1) return sorted[rank === 0 ? 0 : n - 1]!;
      if (n > MOST_LISTED) return selectAverage(sorted, rank);
      listed ??= listAverages(sorted);
      return listed[rank]!;
    },
    countAround: (value) => {
      const { below, notAbove } = cutRows(sorted, value);
      return { below: pairsBefore(below), notAbove: pairsBefore(notAbove) };
    },
  };
}

/** Lists the averages in ascending order. */
function listAverages(sorted: Float64Array): Float64Array {
  const n = sorted.length;
  const averages = new Float64Array((n * (n + 1)) / 2);
  let at = 0;
  for (let row = 0; row < n; row++) {
    for (let other = row; other < n; other++) averages[at++] = (sorted[row]! + sorted[other]!) / 2;
  }
  return averages.toSorted();
}

/** Row i holds the averages of value i with the values from i on. A cut is the end of the averages below it, by row. */
type Cut = Int32Array<ArrayBuffer>;

/** Cuts the rows before and after the averages that equal a value. As the rows ascend, no cut ends after that of the row before. */
function cutRows(sorted: Float64Array, value: number): { below: Cut; notAbove: Cut } {
  const n = sorted.length;
  const [below, notAbove] = [new Int32Array(n), new Int32Array(n)];
  let [low, high] = [n, n];
  for (let row = 0; row < n; row++) {
    const own = sorted[row]!;
    while (low > row && (own + sorted[low - 1]!) / 2 >= value) low--;
    while (high > row && (own + sorted[high - 1]!) / 2 > value) high--;
    below[row] = Math.max(low, row);
    notAbove[row] = Math.max(high, row);
  }
  return { below, notAbove };
}

function pairsBefore(cut: Cut): number {
  let pairs = 0;
  for (let row = 0; row < cut.length; row++) pairs += cut[row]! - row;
  return pairs;
}

/**
 * Selects the average of a rank: a random one of those that are left cuts the rows, and only the side that holds the rank
 * is left (Monahan 1984, "Fast computation of the Hodges-Lehmann location estimator", ACM TOMS 10).
 */
function selectAverage(sorted: Float64Array, rank: number): number {
  const n = sorted.length;
  // The choice has an effect on the time only.
  const random = createRandom(n);
  let from: Cut = Int32Array.from({ length: n }, (_, row) => row);
  let to: Cut = new Int32Array(n).fill(n);
  for (;;) {
    let left = random.below(pairsBefore(to) - pairsBefore(from));
    let row = 0;
    while (left >= to[row]! - from[row]!) {
      left -= to[row]! - from[row]!;
      row++;
    }
    const average = (sorted[row]! + sorted[from[row]! + left]!) / 2;
    const { below, notAbove } = cutRows(sorted, average);
    if (rank < pairsBefore(below)) to = below;
    else if (rank >= pairsBefore(notAbove)) from = notAbove;
    else return average;
  }
}

/** The Hodges-Lehmann estimate of the centre: the median of the Walsh averages. Throws RangeError for no averages. */
export function estimateCentre(averages: WalshAverages): number {
  const { count } = averages;
  const low = averages.at((count - 1) >> 1);
  const high = count % 2 === 1 ? low : averages.at(count >> 1);
  return low + (high - low) / 2;
}

/** The interval W(k+1) … W(m−k) of the m ordered Walsh averages. Throws RangeError if no averages remain. */
export function intervalWithin(averages: WalshAverages, k: number): Interval {
  return intervalBetween(averages, averages, k);
}

/**
 * The interval from W(k+1) of the averages of the lower bounds of differences to W(m−k) of those of the upper bounds; its ends can
 * be infinite. Throws RangeError if no averages remain.
 */
export function intervalBetween(lows: WalshAverages, highs: WalshAverages, k: number): Interval {
  const { count } = lows;
  if (k >= count - k) throw new RangeError(`${count} averages cannot lose ${k} at each end`);
  return { low: lows.at(k), high: highs.at(count - 1 - k) };
}

/** The centre of differences that are symmetric about it, with its interval. */
export interface Located {
  /** The Hodges-Lehmann estimate. */
  centre: number;
  /** Absent if there are too few differences for an interval of this error. */
  interval?: Interval;
}

/** Locates the centre of differences, with the exact interval of this two-sided error. Throws RangeError without differences. */
export function locateCentre(differences: readonly number[], error: number): Located {
  const averages = walshAverages(differences);
  const centre = estimateCentre(averages);
  const trim = trimFor(differences.length, error);
  return trim === undefined ? { centre } : { centre, interval: intervalWithin(averages, trim) };
}

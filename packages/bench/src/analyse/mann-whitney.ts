/**
 * Two samples that nothing pairs: the exact test (Mann & Whitney 1947) and the interval of the shift between them
 * (Hodges & Lehmann 1963).
 */
import type { Interval } from './signed-rank.ts';

/** Samples up to this size are exact and quick (a few milliseconds at 20, a second at 100). */
const LARGEST_SAMPLE = 100;

/**
 * The exact null distribution of U, the chance of each u = 0, ½, 1 … nm (index 2u), for a sample of `n` out of a
 * pool in which values occur as often as `occurrences` says, in rising order of the values: every choice is equally
 * likely and tied values have their mean rank. Without ties this is Mann & Whitney's distribution; with ties it is
 * the permutation distribution given the ties, by the shift algorithm of Streitberg & Röhmel 1986.
 * Throws RangeError for an empty sample or one above 100 values.
 */
export function mannWhitneyChances(n: number, occurrences: readonly number[]): Float64Array {
  const total = occurrences.reduce((sum, times) => sum + times, 0);
  const others = total - n;
  if (n < 1 || others < 1 || n > LARGEST_SAMPLE || others > LARGEST_SAMPLE) {
    throw new RangeError(`a sample holds 1 to ${LARGEST_SAMPLE} values, these hold ${n} and ${others}`);
  }

  // Twice the rank is a whole number also where a rank is the mean of two neighbours.
  const doubleRanks = occurrences.flatMap((times, at) => {
    const smaller = occurrences.slice(0, at).reduce((sum, earlier) => sum + earlier, 0);
    return Array.from({ length: times }, () => 2 * smaller + times + 1);
  });

  const least = n * (n + 1);
  const width = least + 2 * n * others + 1;
  const chances = Array.from({ length: n + 1 }, () => new Float64Array(width));
  chances[0]![0] = 1;
  for (const [seen, doubleRank] of doubleRanks.entries()) {
    for (let taken = Math.min(n, seen + 1); taken >= 0; taken--) {
      const row = chances[taken]!;
      const fewer = chances[taken - 1];
      const leave = Math.max(0, others - (seen - taken)) / (total - seen);
      const take = (n - taken + 1) / (total - seen);
      for (let sum = width - 1; sum >= 0; sum--) {
        const arrived = fewer && sum >= doubleRank ? fewer[sum - doubleRank]! * take : 0;
        row[sum] = row[sum]! * leave + arrived;
      }
    }
  }
  return chances[n]!.slice(least);
}

/**
 * U, the number of pairs in which the value of `first` is the larger (ties count half), and its two-sided exact
 * p value: twice the smaller tail, 1 at most. Throws RangeError for an empty sample or one above 100 values.
 */
export function mannWhitneyP(first: readonly number[], second: readonly number[]): { u: number; p: number } {
  const occurrences = new Map<number, number>();
  for (const value of [...first, ...second].toSorted((a, b) => a - b)) {
    occurrences.set(value, (occurrences.get(value) ?? 0) + 1);
  }
  const chances = mannWhitneyChances(first.length, [...occurrences.values()]);

  let doubleU = 0;
  for (const a of first) {
    for (const b of second) doubleU += Math.sign(a - b) + 1;
  }
  const below = chances.slice(0, doubleU + 1).reduce((sum, chance) => sum + chance, 0);
  const above = chances.slice(doubleU).reduceRight((sum, chance) => sum + chance, 0);
  return { u: doubleU / 2, p: Math.min(1, 2 * Math.min(below, above)) };
}

/** All differences first − second, sorted, in the unit of the values. */
export function pairwiseShifts(first: readonly number[], second: readonly number[]): Float64Array {
  return Float64Array.from(first.flatMap((a) => second.map((b) => a - b))).toSorted();
}

/**
 * The interval D(k+1) … D(nm−k) of the sorted shifts between samples of `n` and `m` values that misses the true
 * shift with probability `alpha` at most, from the distribution of U without ties: with ties it errs on the safe side.
 * Undefined where the samples are too small for any. Throws RangeError above 100 values a sample.
 */
export function intervalOfShifts(
  shifts: Float64Array,
  n: number,
  m: number,
  alpha: number,
): Interval | undefined {
  const chances = mannWhitneyChances(
    n,
    Array.from({ length: n + m }, () => 1),
  );
  // The slack keeps a level that equals a tail exactly from losing it to rounding.
  const allowed = (alpha / 2) * (1 + 1e-9);
  let k = -1;
  for (let tail = chances[0]!; tail <= allowed; tail += chances[2 * (k + 1)]!) k++;
  return k < 0 ? undefined : { low: shifts[k]!, high: shifts.at(-1 - k)! };
}

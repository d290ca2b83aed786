/**
 * Two unpaired samples: the test (Mann & Whitney 1947) and the interval of the shift between them
 * (Hodges & Lehmann 1963).
 */
import { upperPoint, upperTail } from './normal.ts';
import { sum, type Interval } from '../numbers.ts';

/** The limit of additions for the exact distribution: about 0.1 s, or two samples of 50 values. */
const MOST_ADDITIONS = 3e7;

/**
 * Returns true if samples of these sizes use the exact distribution of U. Larger ones use the normal approximation with
 * continuity correction. The tails of U are lighter than normal tails, so it is conservative.
 */
function isExact(n: number, m: number): boolean {
  const fewer = Math.min(n, m);
  return (n + m) * fewer * 2 * n * m <= MOST_ADDITIONS;
}

/** Distributions without ties, by the sizes of both samples: the rows of a table have the same. */
const untied = new Map<string, Float64Array>();

/**
 * The exact null distribution of U: the probability of each u = 0, ½, 1 … nm (index 2u), for a sample of `n` from a
 * pool. `occurrences` counts each value of the pool, in ascending order. Every choice is equally likely, and tied
 * values share their mean rank. Without ties this is Mann & Whitney's distribution; with ties it is
 * the permutation distribution given the ties, by the shift algorithm of Streitberg & Röhmel 1986. It takes about
 * 2 n²m (n + m) additions. Throws RangeError for an empty sample.
 */
export function mannWhitneyChances(n: number, occurrences: readonly number[]): Float64Array {
  const total = sum(occurrences);
  const others = total - n;
  if (n < 1 || others < 1) throw new RangeError(`samples of ${n} and ${others} values cannot be compared`);
  if (occurrences.length < total) return computeChances(n, others, occurrences);

  const sizes = `${n} ${others}`;
  const known = untied.get(sizes) ?? computeChances(n, others, occurrences);
  untied.set(sizes, known);
  return known;
}

function computeChances(n: number, others: number, occurrences: readonly number[]): Float64Array {
  // Twice the rank is a whole number even if the rank is the mean of two neighbours.
  const doubleRanks = occurrences.flatMap((times, at) => {
    const smaller = sum(occurrences.slice(0, at));
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
      const leave = Math.max(0, others - (seen - taken)) / (n + others - seen);
      const take = (n - taken + 1) / (n + others - seen);
      for (let doubled = width - 1; doubled >= 0; doubled--) {
        const arrived = fewer && doubled >= doubleRank ? fewer[doubled - doubleRank]! * take : 0;
        row[doubled] = row[doubled]! * leave + arrived;
      }
    }
  }
  return chances[n]!.slice(least);
}

/**
 * U, the number of pairs in which the value of `first` is the larger (ties count half), and its two-sided p value: twice
 * the smaller tail, at most 1. Exact for samples of up to about 50 values each; beyond that by the normal
 * approximation with corrections for ties and continuity. Throws RangeError for an empty sample.
 */
export function mannWhitneyP(first: readonly number[], second: readonly number[]): { u: number; p: number } {
  const occurrences = new Map<number, number>();
  for (const value of [...first, ...second].toSorted((a, b) => a - b)) {
    occurrences.set(value, (occurrences.get(value) ?? 0) + 1);
  }
  let doubleU = 0;
  for (const a of first) {
    for (const b of second) doubleU += Math.sign(a - b) + 1;
  }
  const [n, m] = [first.length, second.length];
  const u = doubleU / 2;
  if (!isExact(n, m)) return { u, p: approximateP(u, n, m, [...occurrences.values()]) };

  // The U of the smaller sample is faster to compute; its distribution mirrors the other.
  const doubled = n <= m ? doubleU : 2 * n * m - doubleU;
  const chances = mannWhitneyChances(Math.min(n, m), [...occurrences.values()]);
  const below = sum(chances.slice(0, doubled + 1));
  const above = chances.slice(doubled).reduceRight((rest, chance) => rest + chance, 0);
  return { u, p: Math.min(1, 2 * Math.min(below, above)) };
}

function approximateP(u: number, n: number, m: number, occurrences: readonly number[]): number {
  const deviation = deviationOf(n, m, occurrences);
  if (deviation === 0) return 1;
  return Math.min(1, 2 * upperTail(Math.max(0, Math.abs(u - (n * m) / 2) - 0.5) / deviation));
}

/** The standard deviation of U, given how often each value occurs (Lehmann 1975). */
function deviationOf(n: number, m: number, occurrences: readonly number[] = []): number {
  const total = n + m;
  const ties = sum(occurrences.map((times) => times ** 3 - times));
  return Math.sqrt(((n * m) / 12) * (total + 1 - ties / (total * (total - 1))));
}

/** All differences first − second, sorted, in the unit of the values. */
export function pairwiseShifts(first: readonly number[], second: readonly number[]): Float64Array {
  return Float64Array.from(first.flatMap((a) => second.map((b) => a - b))).toSorted();
}

/**
 * The interval D(k+1) … D(nm−k) of the sorted shifts between samples of `n` and `m` values that misses the true
 * shift with probability at most `alpha`. It uses the distribution of U without ties, which is conservative with ties.
 * Exact or by the normal approximation, as in `mannWhitneyP`. Undefined if the samples are too small. If there are fewer
 * shifts than pairs, the bounds hold whatever the others were: each assumes that they all lie beyond it.
 */
export function intervalOfShifts(
  shifts: Float64Array,
  n: number,
  m: number,
  alpha: number,
): Interval | undefined {
  const k = (isExact(n, m) ? exactTrim(n, m, alpha) : approximateTrim(n, m, alpha)) - (n * m - shifts.length);
  return k < 0 ? undefined : { low: shifts[k]!, high: shifts.at(-1 - k)! };
}

/** Returns the largest k with P(U ≤ k) ≤ alpha ÷ 2; negative if there is none. */
export function exactTrim(n: number, m: number, alpha: number): number {
  const chances = mannWhitneyChances(
    Math.min(n, m),
    Array.from({ length: n + m }, () => 1),
  );
  // The slack keeps rounding from excluding a level that equals a tail exactly.
  const allowed = (alpha / 2) * (1 + 1e-9);
  let k = -1;
  for (let tail = chances[0]!; tail <= allowed; tail += chances[2 * (k + 1)]!) k++;
  return k;
}

/** The normal approximation of `exactTrim`. */
export function approximateTrim(n: number, m: number, alpha: number): number {
  return Math.floor((n * m) / 2 - 0.5 - upperPoint(alpha / 2) * deviationOf(n, m));
}

/** Two unpaired samples: the interval of the shift between them (Hodges & Lehmann 1963). */
import { upperPoint } from './normal.ts';
import type { Interval } from 'bench-model/interval';

/** The limit of additions for the exact distribution: about 0.1 s, or two samples of 50 values. */
const MOST_ADDITIONS = 3e7;

/**
 * Returns true if samples of these sizes use the exact distribution of U. Larger ones use the normal approximation with
 * continuity correction. The tails of U are lighter than normal tails, so it is conservative.
 */
function isExact(n: number, m: number): boolean {
  const fewer = Math.min(n, m);
  return (n + m) * fewer * n * m <= MOST_ADDITIONS;
}

/** Distributions by the sizes of both samples: the hosts of a run have the same. */
const known = new Map<string, Float64Array>();

/**
 * The exact null distribution of U: the probability of each u = 0 … nm, for samples of `n` and `m` values without ties
 * (Mann & Whitney 1947). Throws RangeError for an empty sample.
 */
export function mannWhitneyChances(n: number, m: number): Float64Array {
  if (n < 1 || m < 1) throw new RangeError(`samples of ${n} and ${m} values cannot be compared`);
  const sizes = `${n} ${m}`;
  const chances = known.get(sizes) ?? computeChances(n, m);
  known.set(sizes, chances);
  return chances;
}

/** Takes the values of the pool in ascending order, each of them for the sample of `n` with the probability that is left to it. */
function computeChances(n: number, m: number): Float64Array {
  const chances = Array.from({ length: n + 1 }, () => new Float64Array(n * m + 1));
  chances[0]![0] = 1;
  for (let seen = 0; seen < n + m; seen++) {
    for (let taken = Math.min(n, seen + 1); taken >= 0; taken--) {
      const [row, fewer] = [chances[taken]!, chances[taken - 1]];
      const leave = Math.max(0, m - (seen - taken)) / (n + m - seen);
      const take = (n - taken + 1) / (n + m - seen);
      // The values of the other sample seen so far are smaller.
      const smaller = seen - taken + 1;
      for (let u = n * m; u >= 0; u--) {
        const arrived = fewer && smaller >= 0 && u >= smaller ? fewer[u - smaller]! * take : 0;
        row[u] = row[u]! * leave + arrived;
      }
    }
  }
  return chances[n]!;
}

/** The standard deviation of U without ties. */
function deviationOf(n: number, m: number): number {
  return Math.sqrt((n * m * (n + m + 1)) / 12);
}

/** All differences first − second, sorted, in the unit of the values. */
export function pairwiseShifts(first: readonly number[], second: readonly number[]): Float64Array {
  return Float64Array.from(first.flatMap((a) => second.map((b) => a - b))).toSorted();
}

/**
 * The interval D(k+1) … D(nm−k) of the sorted shifts between samples of `n` and `m` values that misses the true
 * shift with probability at most `alpha`. It uses the distribution of U without ties, which is conservative with ties:
 * the exact one up to about 60 values each, then the normal approximation. Undefined if the samples are too small.
 */
export function intervalOfShifts(
  shifts: Float64Array,
  n: number,
  m: number,
  alpha: number,
): Interval | undefined {
  const k = isExact(n, m) ? exactTrim(n, m, alpha) : approximateTrim(n, m, alpha);
  return k < 0 ? undefined : { low: shifts[k]!, high: shifts.at(-1 - k)! };
}

/** Returns the largest k with P(U ≤ k) ≤ alpha ÷ 2; negative if there is none. */
export function exactTrim(n: number, m: number, alpha: number): number {
  const chances = mannWhitneyChances(Math.min(n, m), Math.max(n, m));
  // The slack keeps rounding from excluding a level that equals a tail exactly.
  const allowed = (alpha / 2) * (1 + 1e-9);
  let k = -1;
  for (let tail = chances[0]!; tail <= allowed; tail += chances[k + 1]!) k++;
  return k;
}

/** The normal approximation of `exactTrim`. */
export function approximateTrim(n: number, m: number, alpha: number): number {
  return Math.floor((n * m) / 2 - 0.5 - upperPoint(alpha / 2) * deviationOf(n, m));
}

/** Two unpaired samples: the interval of the shift between them (Hodges & Lehmann 1963). */
import { sum } from './numbers.ts';
import type { Interval } from 'bench-model/interval';

/**
 * The exact null distribution of U: the probability of each u = 0 … nm, for samples of `n` and `m` values without ties
 * (Mann & Whitney 1947), up to 28 of each. Throws RangeError for an empty sample.
 */
export function mannWhitneyChances(n: number, m: number): Float64Array {
  if (n < 1 || m < 1) throw new RangeError(`samples of ${n} and ${m} values cannot be compared`);
  // The choices of n from n + m ranks by their u: the coefficients of ∏ (1 − x^(m+i)) ÷ (1 − x^i) for i = 1 … n.
  const choices = new Float64Array(n * m + 1);
  choices[0] = 1;
  for (let i = 1; i <= n; i++) {
    for (let u = n * m; u >= m + i; u--) choices[u]! -= choices[u - m - i]!;
    for (let u = i; u <= n * m; u++) choices[u]! += choices[u - i]!;
  }
  const all = sum(choices);
  return choices.map((count) => count / all);
}

/** All differences first − second, sorted, in the unit of the values. */
export function pairwiseShifts(first: readonly number[], second: readonly number[]): Float64Array {
  return Float64Array.from(first.flatMap((a) => second.map((b) => a - b))).toSorted();
}

/**
 * The interval D(k+1) … D(nm−k) of the sorted shifts between samples of `n` and `m` values that misses the true shift with
 * probability at most `alpha`: the largest k with P(U ≤ k) ≤ alpha ÷ 2. The distribution of U without ties is conservative
 * with ties. Undefined if the samples are too small.
 */
export function intervalOfShifts(
  shifts: Float64Array,
  n: number,
  m: number,
  alpha: number,
): Interval | undefined {
  const chances = mannWhitneyChances(n, m);
  // The slack keeps rounding from excluding a level that equals a tail exactly.
  const allowed = (alpha / 2) * (1 + 1e-9);
  let k = -1;
  for (let tail = chances[0]!; tail <= allowed; tail += chances[k + 1]!) k++;
  return k < 0 ? undefined : { low: shifts[k]!, high: shifts.at(-1 - k)! };
}

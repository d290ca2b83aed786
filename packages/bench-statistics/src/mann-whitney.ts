/** Two unpaired samples: the shift between them (Hodges & Lehmann 1963). */
import { medianOfSorted, sum } from './numbers.ts';
import type { Located } from './signed-rank.ts';

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

/**
 * Locates the shift between two samples, first − second: the median of all differences, and of these in order the interval from D(k+1)
 * to D(nm−k) that misses the true shift with probability at most `error`, with the largest k for which P(U ≤ k) ≤ error ÷ 2. The
 * distribution of U without ties is conservative with ties.
 */
export function locateShift(first: readonly number[], second: readonly number[], error: number): Located {
  const shifts = Float64Array.from(first.flatMap((a) => second.map((b) => a - b))).toSorted();
  const chances = mannWhitneyChances(first.length, second.length);
  // The slack keeps rounding from excluding a level that equals a tail exactly.
  const allowed = (error / 2) * (1 + 1e-9);
  let k = -1;
  for (let tail = chances[0]!; tail <= allowed; tail += chances[k + 1]!) k++;
  const centre = medianOfSorted(shifts);
  return k < 0 ? { centre } : { centre, interval: { low: shifts[k]!, high: shifts.at(-1 - k)! } };
}

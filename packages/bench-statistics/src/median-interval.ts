/** The confidence interval of a median, from the ranks of the values alone. */
import type { Interval } from 'bench-model/interval';

/**
 * Returns an interval that misses the median of independent values with this probability at most, whatever their distribution: the
 * k-th smallest and the k-th largest value. Undefined if there are too few of them; below 6 for 5 %.
 */
export function medianInterval(values: readonly number[], error = 0.05): Interval | undefined {
  const sorted = Float64Array.from(values).toSorted();
  const k = medianRank(sorted.length, error);
  const [low, high] = [sorted[k - 1], sorted.at(-k)];
  return k === 0 || low === undefined || high === undefined ? undefined : { low, high };
}

/**
 * Returns the rank of the ends of that interval: the largest k with 2 P(B < k) ≤ `error`, where B counts the heads of n fair coins
 * (Conover 1999, "Practical Nonparametric Statistics", 3.2); 0 if there is none.
 */
export function medianRank(n: number, error: number): number {
  // In logarithms: 2 to the power of −n is 0 for large n.
  let log = -n * Math.LN2;
  let tail = 0;
  for (let k = 0; k < n; k++) {
    tail += Math.exp(log);
    if (2 * tail > error) return k;
    log += Math.log((n - k) / (k + 1));
  }
  return 0;
}

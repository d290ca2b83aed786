/** The confidence interval of a median, from the ranks of the values alone. */
import type { Interval } from 'bench-model/interval';

/** The error of the interval. */
const ERROR = 0.05;

/**
 * Returns the exact interval of at least 95 % confidence for the median of independent values: the k-th smallest and the
 * k-th largest value, where k is the largest number with 2 P(B < k) ≤ 5 % and B counts the heads of n fair coins (Conover
 * 1999, "Practical Nonparametric Statistics", 3.2). Undefined below 6 values: no such k exists.
 */
export function medianInterval(values: readonly number[]): Interval | undefined {
  const sorted = Float64Array.from(values).toSorted();
  const k = rankOf(sorted.length);
  const [low, high] = [sorted[k - 1], sorted.at(-k)];
  return k === 0 || low === undefined || high === undefined ? undefined : { low, high };
}

function rankOf(n: number): number {
  // In logarithms: 2 to the power of −n is 0 for large n.
  let log = -n * Math.LN2;
  let tail = 0;
  for (let k = 0; k < n; k++) {
    tail += Math.exp(log);
    if (2 * tail > ERROR) return k;
    log += Math.log((n - k) / (k + 1));
  }
  return 0;
}

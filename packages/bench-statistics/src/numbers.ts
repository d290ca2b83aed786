/** Small arithmetic that several rooms share. */

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** The arithmetic mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** The median of `values` in their unit; for an even number, the mean of the middle two. Throws RangeError for no values. */
export function median(values: readonly number[]): number {
  return medianOfSorted(Float64Array.from(values).toSorted());
}

/** The same for a sorted sample. */
export function medianOfSorted(sorted: ArrayLike<number>): number {
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  if (low === undefined || high === undefined) throw new RangeError('no values have no median');
  return low + (high - low) / 2;
}

/** The value, or the bound that it lies beyond. */
export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Small arithmetic that several rooms share. */

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** The sum of each key over all records that have it. */
export function sumByKey<K extends string>(all: readonly Partial<Record<K, number>>[]): Record<K, number> {
  const total = {} as Record<K, number>;
  for (const one of all) {
    for (const key of Object.keys(one) as K[]) total[key] = (total[key] ?? 0) + (one[key] ?? 0);
  }
  return total;
}

/** The arithmetic mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/**
 * The median of `values` in their unit; for an even number, the mean of the middle two. NaN counts as largest. Throws
 * RangeError for no values.
 */
export function median(values: readonly number[]): number {
  return medianOfSorted(new Float64Array(values).toSorted());
}

/** The same as `median` for a sorted sample: the first `length` values. */
export function medianOfSorted(sorted: Float64Array, length = sorted.length): number {
  const low = sorted[(length - 1) >> 1];
  const high = sorted[length >> 1];
  if (low === undefined || high === undefined) throw new RangeError('no values have no median');
  return low + (high - low) / 2;
}

/** Returns the value that would be at this index if the values, without NaN, were sorted; reorders them (Hoare 1961). */
export function select(values: Float64Array, index: number): number {
  let [first, last] = [0, values.length - 1];
  while (first < last) {
    const pivot = values[index]!;
    let [left, right] = [first, last];
    while (left <= right) {
      while (values[left]! < pivot) left++;
      while (values[right]! > pivot) right--;
      if (left > right) break;
      [values[left], values[right]] = [values[right]!, values[left]!];
      left++;
      right--;
    }
    if (right < index) first = left;
    if (left > index) last = right;
  }
  return values[index]!;
}

/** The median of the values that are known, in their unit; undefined without any. */
export function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

/**
 * A standard deviation that is robust to outliers, in the unit of `values`: the median absolute deviation (Hampel 1974) ×
 * 1.4826, or 1 / Φ⁻¹(3/4), which makes it that of a normal sample. Throws RangeError for no values.
 */
export function robustDeviation(values: readonly number[]): number {
  const centre = median(values);
  return 1.4826 * median(values.map((value) => Math.abs(value - centre)));
}

/** The sum of the squared deviations of values from their mean. */
export function squaresOf(values: readonly number[]): number {
  const centre = mean(values);
  return sum(values.map((value) => (value - centre) ** 2));
}

/** Finds where between two ends `isBelow` ceases to hold, by halving the span 60 times. */
export function bisect(low: number, high: number, isBelow: (value: number) => boolean): number {
  let [from, to] = [low, high];
  for (let step = 0; step < 60; step++) {
    const middle = (from + to) / 2;
    if (isBelow(middle)) from = middle;
    else to = middle;
  }
  return (from + to) / 2;
}

/** The value, or the bound that it lies beyond. */
export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

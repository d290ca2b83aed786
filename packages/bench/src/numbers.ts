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

/** Up to this many numbers, an insertion sort is several times faster than that of a typed array. */
const FEW = 48;

/** The median of `values` in their unit; for an even number, the mean of the middle two. Throws RangeError for no values. */
export function median(values: readonly number[]): number {
  return medianOfSorted(values.length > FEW ? Float64Array.from(values).toSorted() : sortFew(values));
}

/** Returns a sorted copy, NaN last as in typed arrays. */
function sortFew(values: readonly number[]): number[] {
  const sorted = [...values];
  for (let next = 1; next < sorted.length; next++) {
    const value = sorted[next] as number;
    let at = next;
    for (; at > 0 && !((sorted[at - 1] as number) <= value || Number.isNaN(value)); at--)
      sorted[at] = sorted[at - 1] as number;
    sorted[at] = value;
  }
  return sorted;
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

/** A closed interval, in the unit of its sample. */
export interface Interval {
  low: number;
  high: number;
}

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

/** Up to this many numbers, sorting by insertion takes less time than selecting. */
const FEW = 24;

/** The median of `values` in their unit; for an even number, the mean of the middle two. Throws RangeError for no values. */
export function median(values: readonly number[]): number {
  return medianBetween(values, 0, values.length);
}

/** Reused: the medians of short stretches are innermost loops. */
const sortedFew = new Float64Array(FEW);

/** The median of the values from index `from` up to, but not including, `to`. Throws RangeError for no values. */
export function medianBetween(values: readonly number[], from: number, to: number): number {
  const count = to - from;
  if (count > FEW) return medianOfMany(Float64Array.from(values.slice(from, to)));
  for (let next = 0; next < count; next++) insertSorted(sortedFew, next, values[from + next] as number);
  return medianOfSorted(sortedFew, count);
}

/** Inserts a value into the first `count` sorted values, NaN last as in typed arrays. */
export function insertSorted(sorted: Float64Array, count: number, value: number): void {
  let at = count;
  for (; at > 0; at--) {
    const before = sorted[at - 1] as number;
    if (!(before > value || Number.isNaN(before))) break;
    sorted[at] = before;
  }
  sorted[at] = value;
}

/** The median of values, which it reorders. */
function medianOfMany(values: Float64Array): number {
  if (values.includes(Number.NaN)) return medianOfSorted(values.toSorted());
  const middle = values.length >> 1;
  const high = selectRank(values, middle);
  if (values.length % 2 === 1) return high;
  let low = values[0] as number;
  for (let at = 1; at < middle; at++) low = Math.max(low, values[at] as number);
  return low + (high - low) / 2;
}

/**
 * Returns the value with this many smaller ones, from 0 on, and reorders `values` so that no value before that place is
 * larger and none after it smaller (Hoare 1961). None of them may be NaN. The time grows with the number of values; a
 * sort takes several times as long.
 */
export function selectRank(values: Float64Array, rank: number): number {
  let [first, last] = [0, values.length - 1];
  while (first < last) {
    const pivot = values[(first + last) >> 1] as number;
    let [low, high] = [first, last];
    while (low <= high) {
      while ((values[low] as number) < pivot) low++;
      while ((values[high] as number) > pivot) high--;
      if (low > high) break;
      const value = values[low] as number;
      values[low++] = values[high] as number;
      values[high--] = value;
    }
    if (rank <= high) last = high;
    else if (rank >= low) first = low;
    else break;
  }
  return values[rank] as number;
}

/** The same for a sorted sample, or for its first `count` values. */
export function medianOfSorted(sorted: ArrayLike<number>, count = sorted.length): number {
  const low = sorted[(count - 1) >> 1];
  const high = sorted[count >> 1];
  if (count === 0 || low === undefined || high === undefined)
    throw new RangeError('no values have no median');
  return low + (high - low) / 2;
}

/** The value, or the bound that it lies beyond. */
export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

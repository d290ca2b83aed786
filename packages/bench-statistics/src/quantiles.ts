/** Quantiles, and robust measures of the spread of a sample. */
import { median } from './numbers.ts';

/** Makes the median absolute deviation of a normal sample its standard deviation: 1 / Φ⁻¹(3/4). */
const NORMAL_CONSISTENCY = 1.4826;

/**
 * The `share` quantile (0 to 1) of `values` in their unit, interpolated linearly between order statistics: type 7
 * of Hyndman & Fan 1996, the default of numpy and R. Throws RangeError for no values or a share outside 0 to 1.
 */
export function quantile(values: readonly number[], share: number): number {
  if (!(share >= 0 && share <= 1))
    throw new RangeError(`a quantile must lie between 0 and 1, not at ${share}`);
  return quantileOfSorted(Float64Array.from(values).toSorted(), share);
}

/** The same for a sorted sample. */
export function quantileOfSorted(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) throw new RangeError('no values have no quantile');
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (position - below);
}

/** The median absolute deviation from the median, unscaled, in the unit of `values`. Throws RangeError for no values. */
export function medianAbsoluteDeviation(values: readonly number[]): number {
  const centre = median(values);
  return median(values.map((value) => Math.abs(value - centre)));
}

/**
 * A standard deviation that is robust to outliers: 1.4826 × the median absolute deviation (Hampel 1974), in the unit
 * of `values`. Throws RangeError for no values.
 */
export function robustDeviation(values: readonly number[]): number {
  return NORMAL_CONSISTENCY * medianAbsoluteDeviation(values);
}

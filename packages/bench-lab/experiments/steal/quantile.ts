/**
 * The `share` quantile (0 to 1) of `values` in their unit, interpolated linearly between order statistics: type 7
 * of Hyndman & Fan 1996, the default of numpy and R. NaN for no values.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[below + 1] ?? low;
  return low + (high - low) * (position - below);
}

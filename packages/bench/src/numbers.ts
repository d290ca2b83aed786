/** Small arithmetic that several rooms share. */

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The arithmetic mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

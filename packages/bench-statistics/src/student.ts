/** Student's t distribution, and the interval of a mean. */
import { bisect, squaresOf } from './numbers.ts';

/**
 * The t that is exceeded in absolute value with probability `error`, by bisection. Throws RangeError unless `freedom` is
 * an integer of at least 1 and `error` is between 0 and 1.
 */
export function studentPoint(freedom: number, error = 0.05): number {
  if (!Number.isInteger(freedom) || freedom < 1)
    throw new RangeError(`degrees of freedom must be an integer of at least 1, not ${freedom}`);
  if (!(error > 0 && error < 1)) throw new RangeError(`an error must lie between 0 and 1, not ${error}`);
  // In angles, where t = √freedom tan(angle), because t has no upper limit.
  const key = `${freedom} ${error}`;
  const angle = angles.get(key) ?? bisect(0, Math.PI / 2, (one) => chanceWithin(one, freedom) < 1 - error);
  if (angles.size > 1000) angles.clear();
  angles.set(key, angle);
  return Math.sqrt(freedom) * Math.tan(angle);
}

const angles = new Map<string, number>();

/** P(|t| ≤ √freedom tan(angle)) by its finite series (Abramowitz & Stegun 26.7.3 and 26.7.4). */
function chanceWithin(angle: number, freedom: number): number {
  const isOdd = freedom % 2 === 1;
  const cosine = Math.cos(angle);
  let total = 0;
  let term = isOdd ? cosine : 1;
  for (let n = isOdd ? 3 : 2; n <= freedom; n += 2) {
    total += term;
    term *= (cosine ** 2 * (n - 1)) / n;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * total) : Math.sin(angle) * total;
}

/**
 * Returns how far the interval of this two-sided error reaches on either side of the mean of at least two values. A deviation below
 * `leastDeviation` counts as that.
 */
export function studentMargin(values: readonly number[], error = 0.05, leastDeviation = 0): number {
  const freedom = values.length - 1;
  const deviation = Math.max(Math.sqrt(squaresOf(values) / freedom), leastDeviation);
  return (studentPoint(freedom, error) * deviation) / Math.sqrt(values.length);
}

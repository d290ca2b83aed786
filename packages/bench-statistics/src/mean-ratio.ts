/** The ratio of two means from paired figures: that of the typical pair says nothing of the few that cost far more. */
import type { Located } from './signed-rank.ts';
import { mean, sum } from './numbers.ts';
import { studentPoint } from './student.ts';

/**
 * Locates the logarithm of the ratio of means, Σx ÷ Σy, of pairs of figures above 0, with Student's interval of this two-sided
 * error (the ratio estimator of Cochran 1977, "Sampling Techniques", 6.4). Undefined below three pairs.
 */
export function locateMeanRatio(
  pairs: readonly (readonly [x: number, y: number])[],
  error: number,
): Located | undefined {
  const { length } = pairs;
  if (length < 3) return undefined;
  const ratio = mean(pairs.map(([x]) => x)) / mean(pairs.map(([, y]) => y));
  const residuals = sum(pairs.map(([x, y]) => (x - ratio * y) ** 2)) / (length - 1);
  const deviation = Math.sqrt(residuals / length) / mean(pairs.map(([x]) => x));
  const margin = studentPoint(length - 1, error) * deviation;
  const centre = Math.log(ratio);
  return { centre, interval: { low: centre - margin, high: centre + margin } };
}

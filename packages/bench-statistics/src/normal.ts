/** The standard normal distribution, for samples too large for exact ranks. */
import { bisect } from './numbers.ts';

/** P(Z > z), with a relative error below 2 · 10⁻⁷ (erfc by Chebyshev fit: Press et al., Numerical Recipes, 6.2). */
export function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z);
  const x = z / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const series = COEFFICIENTS.reduceRight((sum, coefficient) => sum * t + coefficient, 0);
  return 0.5 * t * Math.exp(-x * x + series);
}

const COEFFICIENTS = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
];

const points = new Map<number, number>();

/** Finds the z that a standard normal exceeds with probability `tail`, by bisection. Throws RangeError outside (0, 1). */
export function upperPoint(tail: number): number {
  if (!(tail > 0 && tail < 1)) throw new RangeError(`a tail must lie between 0 and 1, not ${tail}`);
  const point = points.get(tail) ?? bisect(-40, 40, (z) => upperTail(z) > tail);
  points.set(tail, point);
  return point;
}

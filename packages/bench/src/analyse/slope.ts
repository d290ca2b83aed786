import type { MemoryReading } from '../model.ts';
import { mean, sum } from '../numbers.ts';

/** The fewest readings for a line through them. */
const FEWEST = 20;
/** The fewest independent readings for a reliable estimate of their correlation. */
const FEWEST_INDEPENDENT = 5;

/** The change of memory in a window. */
export interface Slope {
  bytesPerMinute: number;
  /** Half the width of its 95 % confidence interval. */
  marginPerMinute: number;
  /** True if that interval excludes 0. */
  isDistinct: boolean;
}

/**
 * The slope of memory over time, by least squares; undefined with fewer than 20 readings. Neighbouring readings are
 * correlated, so the effective number is n (1 − r) / (1 + r), where r is the correlation of each residual with the next
 * (Santer et al. 2000).
 */
export function slopeOf(readings: readonly MemoryReading[]): Slope | undefined {
  const count = readings.length;
  if (count < FEWEST) return undefined;
  const middle = mean(readings.map(({ seconds }) => seconds));
  const level = mean(readings.map(({ bytes }) => bytes));
  const spread = sum(readings.map(({ seconds }) => (seconds - middle) ** 2));
  const perSecond = sum(readings.map(({ seconds, bytes }) => (seconds - middle) * (bytes - level))) / spread;
  const rest = readings.map(({ seconds, bytes }) => bytes - level - perSecond * (seconds - middle));
  const squares = sum(rest.map((one) => one ** 2));
  const next = sum(rest.slice(1).map((one, index) => one * (rest[index] ?? 0)));
  const correlation = squares === 0 ? 0 : Math.max(0, next / squares);
  const independent = (count * (1 - correlation)) / (1 + correlation);
  const freedom = Math.max(FEWEST_INDEPENDENT, independent) - 2;
  const margin = studentT(freedom) * Math.sqrt(squares / freedom / spread);
  return {
    bytesPerMinute: 60 * perSecond,
    marginPerMinute: 60 * margin,
    isDistinct: independent >= FEWEST_INDEPENDENT && Math.abs(perSecond) > margin,
  };
}

/** The 97.5 % quantile of Student's t, by the first terms of its expansion (Fisher 1926): 3 % short at 3 degrees of freedom. */
function studentT(freedom: number): number {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}

/** How much two targets differ in each round, and how far that is known. Differences are log ratios: above 0 the candidate is worse. */
import type { Interval } from 'bench-model/interval';
import { studentInterval, type StudentInterval } from 'bench-statistics/student';
import type { Difference, Differences } from 'bench-statistics/two-way';
import { type BoundedFigure, exact } from './metrics.ts';
import {
  estimateCentre,
  intervalBetween,
  type Located,
  trimFor,
  walshAverages,
} from 'bench-statistics/signed-rank';
import { type Better, logRatio } from './verdict.ts';

/** Makes differences that are known exactly, or not at all. */
export function exactly(values: readonly (number | undefined)[]): Differences {
  return values.map((value) => (value === undefined ? undefined : exact(value)));
}

/** Returns the values of differences, as far as they have one. */
export function valuesOf(differences: Differences): number[] {
  return differences.flatMap((difference) => (difference === undefined ? [] : [difference.value]));
}

/** Returns the difference of two figures with its bounds. Undefined if a figure is missing or not above 0, or if no bound is known. */
export function differenceOf(
  candidate: BoundedFigure | undefined,
  baseline: BoundedFigure | undefined,
  better: Better,
): Difference | undefined {
  const value = logRatio(candidate?.value, baseline?.value, better);
  if (value === undefined || candidate === undefined || baseline === undefined) return undefined;
  const [least, most] = [
    Math.log(candidate.low / baseline.high),
    Math.log(candidate.high / baseline.low),
  ] as const;
  const { low, high } = better === 'lower' ? { low: least, high: most } : { low: -most, high: -least };
  return low === -Infinity && high === Infinity ? undefined : { value, low, high };
}

/** Returns a difference with another value, and bounds that are as far from it. */
export function recentre({ value: from, low, high }: Difference, value: number): Difference {
  return { value, low: low + value - from, high: high + value - from };
}

/** Returns true if an interval has two ends. */
export function isBounded({ low, high }: Interval): boolean {
  return low > -Infinity && high < Infinity;
}

/**
 * Locates the centre of differences, with an interval that misses it with this probability at most, whatever the true
 * differences are within their bounds: it begins with the interval of the lower bounds and ends with that of the upper
 * ones. Walsh averages only grow with their differences, so it contains the interval of the true ones. An end is infinite if
 * too many differences have no bound there. Throws RangeError if no difference has a value.
 */
export function locateWithin(differences: Differences, error: number): Located {
  const centre = estimateCentre(valuesOf(differences));
  const trim = trimFor(differences.length, error);
  if (trim === undefined) return { centre };
  const lows = differences.map((difference) => difference?.low ?? -Infinity);
  const highs = differences.map((difference) => difference?.high ?? Infinity);
  return { centre, interval: intervalBetween(walshAverages(lows), walshAverages(highs), trim) };
}

/**
 * Locates a difference that is large beside its noise, after rounds that are too few for rank sums: Student's interval of
 * this error. Three rounds can agree by chance, so a deviation below `leastDeviation` counts as that. Undefined if a
 * round has no difference.
 */
export function locateEarly(
  differences: Differences,
  error: number,
  leastDeviation: number,
): Located | undefined {
  const known = differences.filter((difference) => difference !== undefined);
  if (known.length < differences.length || known.length < 2) return undefined;
  const [{ mean: centre }, low, high] = (['value', 'low', 'high'] as const).map((end) =>
    studentInterval(
      known.map((difference) => difference[end]),
      error,
      leastDeviation,
    ),
  ) as [StudentInterval, StudentInterval, StudentInterval];
  return { centre, interval: { low: low.mean - low.margin, high: high.mean + high.margin } };
}

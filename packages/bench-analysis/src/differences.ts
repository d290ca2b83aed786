/** How much two targets differ in each round, and how far that is known. Differences are log ratios: above 0 the candidate is worse. */
import type { Interval } from 'bench-model/interval';
import { locateMeanRatio } from 'bench-statistics/mean-ratio';
import { medianInterval } from 'bench-statistics/median-interval';
import { mean, median, robustDeviation, squaresOf, sum } from 'bench-statistics/numbers';
import { studentMargin } from 'bench-statistics/student';
import type { Difference, Differences } from 'bench-statistics/two-way';
import { type BoundedFigure, exact } from './metrics.ts';
import { estimateCentre, type Located, trimFor, trimmedInterval } from 'bench-statistics/signed-rank';
import { present } from 'bench-model/options';
import { type Better, logRatio } from './verdict.ts';

/** Makes differences that are known exactly, or not at all. */
export function exactly(values: readonly (number | undefined)[]): Differences {
  return values.map((value) => (value === undefined ? undefined : exact(value)));
}

/** Returns the values of differences, as far as they have one. */
export function valuesOf(differences: Differences): number[] {
  return differences.filter((one) => one !== undefined).map(({ value }) => value);
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
  if (low === -Infinity && high === Infinity) return undefined;
  const figures = [candidate.value, baseline.value] as const;
  return { value, low, high, pair: better === 'lower' ? figures : [figures[1], figures[0]] };
}

/** Returns true if an interval has two ends. */
export function isBounded({ low, high }: Interval): boolean {
  return low > -Infinity && high < Infinity;
}

/**
 * Returns an interval that holds whatever the true differences are within their bounds: it begins with that of the lower bounds, and
 * ends with that of the upper ones. An end is infinite if too many differences have no bound there.
 */
function intervalWithin(
  differences: Differences,
  locate: (values: readonly number[]) => Interval | undefined,
): Interval | undefined {
  const lower = locate(differences.map((difference) => difference?.low ?? -Infinity));
  const areExact = differences.every((one) => one !== undefined && one.low === one.high);
  const upper = areExact ? lower : locate(differences.map((difference) => difference?.high ?? Infinity));
  return lower && upper && { low: lower.low, high: upper.high };
}

/**
 * Locates the centre of differences, with an interval that misses it with this probability at most: Walsh averages only grow with
 * their differences. Throws RangeError if no difference has a value.
 */
export function locateWithin(differences: Differences, error: number): Located {
  const trim = trimFor(differences.length, error);
  const interval = intervalWithin(differences, (values) =>
    trim === undefined ? undefined : trimmedInterval(values, trim),
  );
  return { centre: estimateCentre(valuesOf(differences)), ...present({ interval }) };
}

/** Locates the median of differences in the same way, whatever their distribution: many a tail latency is skewed. */
export function locateMedian(differences: Differences, error: number): Located {
  const interval = intervalWithin(differences, (values) => medianInterval(values, error));
  return { centre: median(valuesOf(differences)), ...present({ interval }) };
}

/** The largest share of the rounds that may have no figure for a mean. */
const MOST_MISSING = 0.05;

/**
 * Locates the log ratio of the means: what users pay, if some processes cost far more than the typical one. Its interval of
 * this error begins and ends as far below and above as bounds of single rounds leave open. Rounds without a difference are left out;
 * if they are more than 5 %, as of a server that often fails, the interval is open. Undefined below three rounds with a difference.
 */
export function locateMean(differences: Differences, error: number): Located | undefined {
  const known = differences.filter((difference) => difference !== undefined);
  const located = locateMeanRatio(
    known.map(({ pair, value }) => pair ?? [Math.exp(value), 1]),
    error,
  );
  if (located?.interval === undefined) return undefined;
  const { centre, interval } = located;
  const isMissing = differences.length - known.length > MOST_MISSING * differences.length;
  const reach = (of: (one: Difference) => number): number => (isMissing ? Infinity : mean(known.map(of)));
  const low = interval.low - reach((one) => one.value - one.low);
  const high = interval.high + reach((one) => one.high - one.value);
  return { centre, interval: { low, high } };
}

/** Rounds in which a server cost far more than usual. */
export interface Dear {
  /** True if it was the candidate. */
  isCandidate: boolean;
  /** Their numbers, from 1 on. */
  rounds: number[];
  /** The median of what they cost, as a factor of the typical cost, or of that of the other kind: 1.4 is 40 % more. */
  factor: number;
  /** True if its processes are of two kinds. */
  isKind?: true;
}

/** A round is apart from the others if it is this many robust deviations from their centre, and two kinds by as many of their own. */
const APART = 5;
/** Each of two kinds has at least so many rounds, and this share of all: fewer may be a burst, or the tail of noise. */
const KIND = { fewest: 4, share: 0.2 };

/**
 * Finds two kinds of processes: between them is a gap that is far wider than either varies. The tests hold the share of samples of any
 * noise that look like that against 1 %. Undefined without them, or if the gap is not more than `least`, a log ratio.
 */
export function findKinds(differences: Differences, least: number): Dear | undefined {
  const known = differences
    .flatMap((one, index) => (one === undefined ? [] : [{ ...one, round: index + 1 }]))
    .toSorted((a, b) => a.value - b.value);
  const fewest = Math.max(KIND.fewest, Math.ceil(KIND.share * known.length));
  const gapAt = (at: number): number => known[at]!.value - known[at - 1]!.value;
  const cuts = known.flatMap((_, at) => (at >= fewest && at <= known.length - fewest ? [at] : []));
  const [cut] = cuts.toSorted((a, b) => gapAt(b) - gapAt(a));
  if (cut === undefined) return undefined;
  const kinds = [known.slice(0, cut), known.slice(cut)] as const;
  const squares = kinds.map((kind) => squaresOf(kind.map(({ value }) => value)));
  const deviation = Math.sqrt(sum(squares) / (known.length - 2));
  if (gapAt(cut) <= Math.max(least, APART * deviation)) return undefined;
  // Of the two servers, the one whose own figures differ. They also follow the pace of the machine.
  const [ours, theirs] = ([0, 1] as const).map((side) =>
    Math.abs(apart(kinds, ({ pair = [1, 1] }) => Math.log(pair[side]))),
  ) as [number, number];
  const isCandidate = ours >= theirs;
  const rounds = kinds[isCandidate ? 1 : 0].map(({ round }) => round);
  const factor = Math.exp(apart(kinds, ({ value }) => value));
  return { isCandidate, rounds: rounds.toSorted((a, b) => a - b), factor, isKind: true };
}

/** Returns by how much the medians of two samples differ. */
function apart<One>([below, above]: readonly [One[], One[]], of: (one: One) => number): number {
  return median(above.map(of)) - median(below.map(of));
}

/** Finds the rounds whose difference lies apart from the others by more than `least`, a log ratio, on the side that has more of them. */
export function findDear(differences: Differences, least: number): Dear | undefined {
  const values = valuesOf(differences);
  if (values.length < 3) return undefined;
  const centre = median(values);
  const limit = Math.max(least, APART * robustDeviation(values));
  const far = differences.flatMap((difference, index) => {
    const distance = (difference?.value ?? centre) - centre;
    return Math.abs(distance) > limit ? [{ round: index + 1, distance }] : [];
  });
  const isCandidate = 2 * far.filter(({ distance }) => distance > 0).length >= far.length;
  const side = far.filter(({ distance }) => distance > 0 === isCandidate);
  if (side.length === 0) return undefined;
  return {
    isCandidate,
    rounds: side.map(({ round }) => round),
    factor: Math.exp(median(side.map(({ distance }) => Math.abs(distance)))),
  };
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
  const values = valuesOf(differences);
  if (values.length < differences.length || values.length < 2) return undefined;
  const interval = intervalWithin(differences, (ends) => {
    const [centre, margin] = [mean(ends), studentMargin(ends, error, leastDeviation)];
    return { low: centre - margin, high: centre + margin };
  });
  return { centre: mean(values), ...present({ interval }) };
}

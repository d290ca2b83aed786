/** Ranks the rows of a rung by one metric. */
import { mean, sum, type Interval } from '../numbers.ts';
import type { Differences } from './paired.ts';
import { locateCentre } from './signed-rank.ts';
import { studentPoint } from './student.ts';
import type { Figure } from './summary.ts';
import { thetaOf, type Better } from './verdict.ts';

/** A single round shows no spread, so it cannot distinguish two rows. */
export const FEWEST_RANKED_ROUNDS = 2;
/** The error of the interval of a difference. */
const ERROR = 0.05;

/** The rows of one metric at one rung. */
export interface Contest {
  figures: readonly (Figure | undefined)[];
  better: Better;
  /** The smallest difference that matters, as a share. */
  threshold: number;
  /** Returns the valid figures of a row by round. */
  roundsOf(row: number): readonly (number | undefined)[];
  /** Returns the log ratio of two rows in each round; above 0 the first one is worse. */
  differencesOf(one: number, other: number): Differences;
}

/**
 * Returns the rank of each row. In the order of their medians, rows share a rank until one is distinguished from any of
 * them: it begins the next group, whose rank is 1 + the number of rows before it. So all rows of one rank are mutually
 * indistinguishable, and no rank contradicts the order of the medians.
 *
 * Two rows are distinguished if the 95 % interval of their differences in the same rounds excludes 0, and its centre is
 * at least the threshold away. The interval is the exact signed-rank one from six rounds on, and Student's with fewer.
 * Rows with fewer than two valid rounds in common are compared by their means (Student 1908).
 *
 * A figure that is missing, invalid, a lower bound or of one round has no rank; a lower bound is still before figures
 * that all lie below it.
 */
export function rankFigures(contest: Contest): (number | undefined)[] {
  const { figures, better } = contest;
  const sign = better === 'lower' ? 1 : -1;
  const known = figures.flatMap((figure, index) => (figure === undefined ? [] : [{ figure, index }]));
  const ordered = known
    .filter(({ figure }) => isExact(figure) && figure.rounds >= FEWEST_RANKED_ROUNDS)
    .toSorted((a, b) => sign * (a.figure.median - b.figure.median));
  const ranks: (number | undefined)[] = figures.map(() => undefined);
  let group: number[] = [];
  let rank = 1;
  for (const [before, { figure, index }] of ordered.entries()) {
    const isNext = group.some((other) => isBetter(contest, other, index));
    if (isNext) group = [];
    group.push(index);
    const bounds = known.filter((one) => !isExact(one.figure) && isApart(one.figure, figure, better)).length;
    rank = Math.max(rank, bounds + 1, isNext ? bounds + before + 1 : 0);
    ranks[index] = rank;
  }
  return ranks;
}

/** Returns true if one of two exact figures is better than the other. */
function isBetter(contest: Contest, one: number, other: number): boolean {
  const differences = contest.differencesOf(one, other).filter((difference) => difference !== undefined);
  const { centre, high } =
    differences.length < FEWEST_RANKED_ROUNDS ? compareMeans(contest, one, other) : locate(differences);
  return high < 0 && centre <= -thetaOf(contest.threshold);
}

/** The centre of differences, and the upper end of its 95 % interval. */
interface Bounded {
  centre: number;
  high: number;
}

function locate(differences: readonly number[]): Bounded {
  const { centre, interval } = locateCentre(differences, ERROR);
  if (interval !== undefined) return { centre, high: interval.high };
  const { length } = differences;
  const standardError = Math.sqrt(squaresOf(differences) / (length * (length - 1)));
  return { centre, high: mean(differences) + studentPoint(length - 1, ERROR) * standardError };
}

/** Compares the means of two rows, on a log scale, with the deviation that both share. */
function compareMeans(contest: Contest, one: number, other: number): Bounded {
  const [ours, theirs] = [one, other].map((row) =>
    contest.roundsOf(row).flatMap((value) => (value === undefined || value <= 0 ? [] : [Math.log(value)])),
  ) as [number[], number[]];
  const centre = (mean(ours) - mean(theirs)) * (contest.better === 'lower' ? 1 : -1);
  const freedom = ours.length + theirs.length - 2;
  if (ours.length === 0 || theirs.length === 0 || freedom < 1) return { centre, high: Infinity };
  const variance = (squaresOf(ours) + squaresOf(theirs)) / freedom;
  const standardError = Math.sqrt(variance * (1 / ours.length + 1 / theirs.length));
  return { centre, high: centre + studentPoint(freedom, ERROR) * standardError };
}

/** The sum of the squares of the deviations from the mean. */
function squaresOf(values: readonly number[]): number {
  const centre = mean(values);
  return sum(values.map((value) => (value - centre) ** 2));
}

/** Returns true if all values of one figure, as far as they are known, are better than those of another. */
function isApart(one: Figure, other: Figure, better: Better): boolean {
  if (one.rounds < FEWEST_RANKED_ROUNDS) return false;
  if (better === 'higher') return (one.valid || one.atLeast) && spanOf(one).low > spanOf(other).high;
  return isExact(one) && spanOf(one).high < spanOf(other).low;
}

function spanOf({ interval, least, most }: Figure): Interval {
  return interval ?? { low: least, high: most };
}

function isExact({ valid, atLeast }: Figure): boolean {
  return valid && !atLeast;
}

/** Ranks the rows of a rung by one metric. */
import type { Better } from './verdict.ts';
import type { Interval } from './signed-rank.ts';
import type { Figure } from './summary.ts';

/** With fewer rounds, ranges often do not overlap by chance. */
const FEWEST_RANKED_ROUNDS = 3;

/**
 * Returns the rank of each figure among the figures of one metric at one rung: 1 + the number of better ones. A figure is
 * better than another if the confidence intervals of their medians do not overlap; with too few rounds for an interval,
 * if the ranges of their rounds do not. Figures that are not distinguished share a rank. A figure that is missing, invalid,
 * a lower bound or of fewer than three rounds has none; a lower bound is still better than figures that all lie below it.
 */
export function rankFigures(
  figures: readonly (Figure | undefined)[],
  better: Better,
): (number | undefined)[] {
  return figures.map((figure) =>
    figure === undefined || !isExact(figure) || figure.rounds < FEWEST_RANKED_ROUNDS
      ? undefined
      : 1 + figures.filter((other) => other !== undefined && isBetter(other, figure, better)).length,
  );
}

function isBetter(one: Figure, other: Figure, better: Better): boolean {
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

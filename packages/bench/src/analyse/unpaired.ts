/** Compares runs from different times. Their rounds are unpaired, so the result includes every other change between them. */
import { type Comparison, conclude, losesTooMany, type Rules } from './comparison.ts';
import { ERROR_BUDGET } from './looks.ts';
import { intervalOfShifts, mannWhitneyP, pairwiseShifts } from './mann-whitney.ts';
import { type Better, logRatio } from './verdict.ts';
import { medianOfSorted } from '../numbers.ts';

type Figures = readonly (number | undefined)[];

/** One metric of a candidate and its baseline, in the unit of the metric; undefined (or not above 0) is a dropped trial. */
export interface UnpairedRow {
  candidate: Figures;
  baseline: Figures;
}

/**
 * Makes the unpaired comparisons of one table, in order: Mann-Whitney (see `mannWhitneyP`), the Hodges-Lehmann shift of
 * the logs with its interval, and the two-level verdict. The rows share one budget of 5 % equally, so that all intervals
 * hold simultaneously. If a side has lost more than 5 % of its trials, the interval and the p value hold whatever their figures
 * would have been. Throws RangeError unless the threshold is above 0.
 */
export function compareUnpaired(rows: readonly UnpairedRow[], rules: Rules): Comparison[] {
  const level = ERROR_BUDGET / rows.length;
  return rows.map((row) => {
    const sides = [takeSide(row.candidate, rules.better), takeSide(row.baseline, rules.better)] as const;
    const [candidate, baseline] = sides;
    const rounds = Math.min(candidate.logs.length, baseline.logs.length);
    const dropped = candidate.dropped + baseline.dropped;
    const tooManyDropped = sides.some(({ worst }) => worst > 0);
    const adjustedP = rounds === 0 ? 1 : Math.min(1, worstP(candidate, baseline) * rows.length);
    const compared = { paired: false, rounds, dropped, adjustedP };
    if (rounds === 0) return conclude(compared, tooManyDropped, undefined, rules);

    const shifts = pairwiseShifts(candidate.logs, baseline.logs);
    const [n, m] = [candidate.logs.length + candidate.worst, baseline.logs.length + baseline.worst];
    const figures = {
      estimate: medianOfSorted(shifts),
      interval: intervalOfShifts(shifts, n, m, level),
      range: { low: shifts[0]!, high: shifts.at(-1)! },
    };
    return conclude(compared, tooManyDropped, figures, rules);
  });
}

/** One side of a comparison. */
interface Side {
  logs: number[];
  dropped: number;
  /** The dropped trials that count as the worst figures: all if they are too many, else none. */
  worst: number;
}

function takeSide(figures: Figures, better: Better): Side {
  const logs = figures.map((figure) => logRatio(figure, 1, better)).filter((log) => log !== undefined);
  const dropped = figures.length - logs.length;
  return { logs, dropped, worst: losesTooMany(dropped, figures.length) ? dropped : 0 };
}

/** The largest p value that two sides can have, whatever the figures of the trials that count as the worst were. */
function worstP(candidate: Side, baseline: Side): number {
  const extremes = [Infinity, -Infinity].map((figure) => {
    const first = padWith(candidate, figure);
    const second = padWith(baseline, -figure);
    const { u, p } = mannWhitneyP(first, second);
    return { p, direction: Math.sign(u - (first.length * second.length) / 2) };
  });
  const [one, other] = extremes;
  return one?.direction === other?.direction ? Math.max(...extremes.map(({ p }) => p)) : 1;
}

function padWith({ logs, worst }: Side, figure: number): number[] {
  return [...logs, ...Array.from({ length: worst }, () => figure)];
}

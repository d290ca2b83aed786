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
 * hold simultaneously. Throws RangeError unless the threshold is above 0.
 */
export function compareUnpaired(rows: readonly UnpairedRow[], rules: Rules): Comparison[] {
  const level = ERROR_BUDGET / rows.length;
  return rows.map((row) => {
    const { candidate, baseline, dropped, tooManyDropped, p } = takeSample(row, rules.better);
    const adjustedP = Math.min(1, p * rows.length);
    const [n, m] = [candidate.length, baseline.length];
    const compared = { paired: false, rounds: Math.min(n, m), dropped, adjustedP };
    if (compared.rounds === 0) return conclude(compared, tooManyDropped, undefined, rules);

    const shifts = pairwiseShifts(candidate, baseline);
    const figures = {
      estimate: medianOfSorted(shifts),
      interval: tooManyDropped ? undefined : intervalOfShifts(shifts, n, m, level),
      range: { low: shifts[0]!, high: shifts.at(-1)! },
    };
    return conclude(compared, tooManyDropped, figures, rules);
  });
}

function takeSample(row: UnpairedRow, better: Better) {
  const candidate = toLogs(row.candidate, better);
  const baseline = toLogs(row.baseline, better);
  const tooManyDropped =
    losesTooMany(row.candidate.length - candidate.length, row.candidate.length) ||
    losesTooMany(row.baseline.length - baseline.length, row.baseline.length);
  const dropped = row.candidate.length + row.baseline.length - candidate.length - baseline.length;
  const comparable = !tooManyDropped && candidate.length > 0 && baseline.length > 0;
  return {
    candidate,
    baseline,
    dropped,
    tooManyDropped,
    p: comparable ? mannWhitneyP(candidate, baseline).p : 1,
  };
}

function toLogs(figures: Figures, better: Better): number[] {
  return figures.map((figure) => logRatio(figure, 1, better)).filter((log) => log !== undefined);
}

/** Places in a table whose rows were all compared with one baseline. */
import type { Interval } from './signed-rank.ts';
import { thetaOf } from './verdict.ts';

/** A row's log ratio to the baseline, above 0 where it is worse; without an interval it is told from no other. */
export interface Ranked {
  estimate?: number;
  interval?: Interval;
}

/**
 * The rank of each row, in the order given: 1 + the number of rows that are better. A row is better than another
 * when its interval lies wholly below the other's and the estimates differ by the threshold at least; so rows that
 * cannot be told apart share a rank, and the intervals are the ones that the verdicts were made from. The baseline
 * itself is a row: { estimate: 0, interval: { low: 0, high: 0 } }. Throws RangeError unless the threshold is above 0.
 */
export function shareRanks(rows: readonly Ranked[], threshold: number): number[] {
  const theta = thetaOf(threshold);
  return rows.map((row) => 1 + rows.filter((other) => isBetter(other, row, theta)).length);
}

function isBetter(one: Ranked, other: Ranked, theta: number): boolean {
  if (!one.interval || !other.interval || one.estimate === undefined || other.estimate === undefined)
    return false;
  return one.interval.high < other.interval.low && other.estimate - one.estimate >= theta;
}

/** Ranks the rows of a table that share one baseline. */
import type { Interval } from '../numbers.ts';
import { thetaOf } from './verdict.ts';

/** A row's log ratio to the baseline; above 0 it is worse. Without an interval, it is indistinguishable from every other. */
export interface Ranked {
  estimate?: number;
  interval?: Interval;
}

/**
 * The rank of each row, in the order given: 1 + the number of rows that are better. A row is better than another
 * if its interval lies entirely below the other's and the estimates differ by at least the threshold. Rows that are
 * indistinguishable share a rank. The intervals are those of the verdicts. The baseline itself is a row: { estimate: 0, interval: { low: 0, high: 0 } }. Throws RangeError unless the threshold is above 0.
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

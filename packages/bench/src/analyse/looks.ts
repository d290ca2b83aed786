/** The times at which a running comparison may be examined, and the error that each look may spend. */
import type { Look, Schedule } from '../catalogue/looks.ts';
import { errorOfTrim, trimFor } from './signed-rank.ts';

/** The total error of one table of comparisons. */
export const ERROR_BUDGET = 0.05;

/**
 * The part of a look's error that several rows may divide among themselves. At smaller levels the looks of a schedule
 * depend less on each other, so their joint error falls more slowly than the levels: undiminished, 18/27/36 would
 * spend up to 5.6 %. The tests hold the joint error of every schedule against 5 %, for up to 120 rows.
 */
const SHARED_PART = 0.88;

/** Builds a schedule with one exact look after a fixed number of rounds. Below 6 rounds it decides nothing. */
export function fixedSchedule(rounds: number): Schedule {
  const k = trimFor(rounds, ERROR_BUDGET);
  return [k === undefined ? { rounds } : { rounds, k }];
}

/** The last look that `rounds` rounds have reached; undefined before the first. */
export function lastLook(schedule: Schedule, rounds: number): Look | undefined {
  return schedule.findLast((look) => look.rounds <= rounds);
}

/**
 * The two-sided error of an interval at a look, in a table of `rows` comparisons. One row gets the whole budget of a
 * single look, or the error of the look's k; several rows get equal shares (Bonferroni). 0 if the look decides nothing.
 *
 * With equal shares, all intervals of a table hold simultaneously, so each claim made from one of them ("slower", "same",
 * a rank, the whole interval above 2 %) is covered by the same 5 %. Holm's step-down decides more rows, but its
 * intervals are not simultaneous. A max-T test by sign flips would narrow the intervals by 3 to 5 % at a common
 * baseline. But it needs jointly symmetric rows in a round, and the coin that orders a round makes only
 * each pair symmetric: simulated at 12 rounds, it missed in up to 8 % of tables.
 */
export function levelOf(look: Look, schedule: Schedule, rows = 1): number {
  if (look.k === undefined) return 0;
  if (schedule.length === 1) return ERROR_BUDGET / rows;
  const alone = errorOfTrim(look.rounds, look.k);
  return rows === 1 ? alone : (SHARED_PART * alone) / rows;
}

/** The first look at which a table of `rows` comparisons can have intervals; undefined if no look suffices. */
export function firstDecisive(schedule: Schedule, rows: number): Look | undefined {
  return schedule.find((look) => trimFor(look.rounds, levelOf(look, schedule, rows)) !== undefined);
}

/** The fewest rounds after which a single look can decide a table of `rows` comparisons: 2 · 2⁻ⁿ ≤ 5 % ÷ rows. */
export function fewestRounds(rows: number): number {
  return Math.ceil(1 - Math.log2(ERROR_BUDGET / rows));
}

/** When one may look at a comparison that is still running, and how much error each look may spend. */
import type { Look, Schedule } from '../catalogue/looks.ts';
import { errorOfTrim, trimFor } from './signed-rank.ts';

/** The error that one table of comparisons may make in all. */
export const ERROR_BUDGET = 0.05;

/**
 * The part of a look's error that several rows may divide among themselves. At smaller levels the looks of a schedule
 * depend less on each other, so their joint error falls more slowly than the levels: undiminished, 18/27/36 would
 * spend up to 5.6 %. The tests hold the joint error of every schedule against 5 %, for up to 120 rows.
 */
const SHARED_PART = 0.88;

/** One exact look after a fixed number of rounds; below 6 rounds it decides nothing. */
export function fixedSchedule(rounds: number): Schedule {
  const k = trimFor(rounds, ERROR_BUDGET);
  return [k === undefined ? { rounds } : { rounds, k }];
}

/** The last look that `rounds` rounds have reached; undefined before the first. */
export function lastLook(schedule: Schedule, rounds: number): Look | undefined {
  return schedule.findLast((look) => look.rounds <= rounds);
}

/**
 * The two-sided error that the interval of a look may make in a table of `rows` comparisons: for one row the whole
 * budget of a single look, or what the look's k spends; for several an equal share each (Bonferroni). 0 where the look
 * decides nothing.
 *
 * Equal shares make all intervals of a table hold together, so each claim made from one of them ("slower", "same",
 * a rank, the whole interval above 2 %) is covered by the same 5 %. Holm's step-down decides more rows, but its
 * intervals are not simultaneous. A max-T test by sign flips would narrow the intervals by 3 to 5 % at a common
 * baseline. It needs the rows of a round to be jointly symmetric, though, and the coin that orders a round gives only
 * each pair its symmetry: simulated at 12 rounds, it missed in up to 8 % of tables.
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

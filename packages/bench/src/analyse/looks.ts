/**
 * When one may look at a comparison that is still running. Each look's interval is wide enough that over all looks
 * of a schedule the truth falls outside with 5 % together (repeated confidence intervals: Jennison & Turnbull 2000,
 * with constants of the type of O'Brien & Fleming 1979).
 */
import type { Look, Schedule } from '../catalogue/looks.ts';
import { errorOfTrim, trimFor } from './signed-rank.ts';

/** The error that one table of comparisons may make in all. */
export const ERROR_BUDGET = 0.05;

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
 * The two-sided error that the interval of a look may make by itself: the whole budget for a single look, else what
 * its k spends; 0 where it decides nothing.
 */
export function errorOf(look: Look, schedule: Schedule): number {
  if (look.k === undefined) return 0;
  return schedule.length === 1 ? ERROR_BUDGET : errorOfTrim(look.rounds, look.k);
}

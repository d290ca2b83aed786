/**
 * When one may look at a comparison that is still running. Each look's interval is wide enough that over all looks
 * of a schedule the truth falls outside with 5 % together (repeated confidence intervals: Jennison & Turnbull 2000,
 * with constants of the type of O'Brien & Fleming 1979).
 */
import { BenchError } from '../errors.ts';
import { errorOfTrim, trimFor } from './signed-rank.ts';

/** The error that one table of comparisons may make in all. */
export const ERROR_BUDGET = 0.05;

/** One look: after `rounds` rounds, with `k` Walsh averages left out at each end; without `k` it decides nothing. */
export interface Look {
  rounds: number;
  k?: number;
}

/** The looks of a plan, in order; fixed before the first round and kept on resume. */
export type Schedule = readonly Look[];

/** Schedules of three looks by name; their joint error is computed exactly in the tests (4.7 to 5.0 %). */
export const SCHEDULES: Readonly<Record<string, Schedule>> = {
  '12/18/24': [
    { rounds: 12, k: 4 },
    { rounds: 18, k: 32 },
    { rounds: 24, k: 78 },
  ],
  '6/12/18': [{ rounds: 6 }, { rounds: 12, k: 8 }, { rounds: 18, k: 39 }],
  '10/15/20': [
    { rounds: 10, k: 1 },
    { rounds: 15, k: 19 },
    { rounds: 20, k: 50 },
  ],
  '18/27/36': [
    { rounds: 18, k: 22 },
    { rounds: 27, k: 92 },
    { rounds: 36, k: 204 },
  ],
};

/** The schedule of that name. Throws BenchError (usage) if there is none. */
export function scheduleNamed(name: string): Schedule {
  const schedule = Object.hasOwn(SCHEDULES, name) ? SCHEDULES[name] : undefined;
  if (schedule) return schedule;
  throw new BenchError(
    'usage',
    `no schedule is called ${name}`,
    `write one of ${Object.keys(SCHEDULES).join(', ')}`,
  );
}

/** One exact look after a fixed number of rounds; below 6 rounds it decides nothing. */
export function fixedSchedule(rounds: number): Schedule {
  const k = trimFor(rounds, ERROR_BUDGET);
  return [k === undefined ? { rounds } : { rounds, k }];
}

/** The last look that `rounds` rounds have reached; undefined before the first. */
export function lastLook(schedule: Schedule, rounds: number): Look | undefined {
  return schedule.findLast((look) => look.rounds <= rounds);
}

/** The next look after `rounds` rounds; undefined when the schedule is over. */
export function nextLook(schedule: Schedule, rounds: number): Look | undefined {
  return schedule.find((look) => look.rounds > rounds);
}

/**
 * The two-sided error that the interval of a look may make by itself: the whole budget for a single look, else what
 * its k spends; 0 where it decides nothing.
 */
export function errorOf(look: Look, schedule: Schedule): number {
  if (look.k === undefined) return 0;
  return schedule.length === 1 ? ERROR_BUDGET : errorOfTrim(look.rounds, look.k);
}

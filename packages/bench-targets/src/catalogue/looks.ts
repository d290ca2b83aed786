/** Schedules of looks: the rounds after which a comparison may be tested, fixed before the first one. */
import { UsageError } from 'bench-model/errors';

/**
 * One look: after `rounds` rounds, with `k` Walsh averages trimmed at each end, or with Student's interval of this `error`.
 * Without either, this look cannot decide.
 */
export interface Look {
  rounds: number;
  k?: number;
  error?: number;
  /** True if no schedule planned it: the run was stopped there. */
  isStop?: true;
}

/** The looks of a run, in order: the planned ones, and the stops after which it was continued. */
export type Schedule = readonly Look[];

/**
 * Looks for large differences, before those that rank rounds can decide at all: half as much again shows after three or four
 * rounds of 2 % noise. Together they spend 0.2 % at most.
 */
const EARLY = [
  { rounds: 3, error: 0.001 },
  { rounds: 4, error: 0.0003 },
  { rounds: 6, error: 0.0003 },
] as const satisfies Schedule;

/** The schedules by name. The tests hold their joint error below 5 %: those of three and four looks have 4.7 to 4.8 %, exactly. */
export const SCHEDULES = {
  '12/18/24': [...EARLY, { rounds: 12, k: 4 }, { rounds: 18, k: 32 }, { rounds: 24, k: 78 }],
  '8/12/18/24': [
    ...EARLY,
    { rounds: 8, k: 0 },
    { rounds: 12, k: 4 },
    { rounds: 18, k: 31 },
    { rounds: 24, k: 76 },
  ],
  '12/18/27/40/60': [
    ...EARLY,
    { rounds: 12, k: 4 },
    { rounds: 18, k: 27 },
    { rounds: 27, k: 90 },
    { rounds: 40, k: 237 },
    { rounds: 60, k: 605 },
  ],
} as const satisfies Record<string, Schedule>;

/**
 * Returns the default schedule. A round of two searches for a capacity takes half a minute, so the first look is early.
 * Decided comparisons leave a table of several, and a budget already limits a run: both can use a late look.
 */
export function chooseLooks(
  targets: number,
  { hasBudget = false, searches = false }: { hasBudget?: boolean; searches?: boolean } = {},
): string {
  if (searches && targets <= 2) return '8/12/18/24';
  return targets > 2 || hasBudget ? '12/18/27/40/60' : '12/18/24';
}

/** Returns the schedule of this name. Throws a usage error if it is unknown. */
export function scheduleNamed(name: string): Schedule {
  if (Object.hasOwn(SCHEDULES, name)) return SCHEDULES[name as keyof typeof SCHEDULES];
  const names = Object.keys(SCHEDULES).join(', ');
  throw new UsageError(`unknown schedule of looks "${name}", expected one of ${names}`);
}

/** Returns the number of rounds at the last look of a schedule. */
export function mostRounds(schedule: Schedule): number {
  return schedule.at(-1)?.rounds ?? 0;
}

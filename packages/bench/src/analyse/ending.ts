import { scheduleNamed } from '../catalogue/looks.ts';
import type { Trial } from '../results/record.ts';
import type { Plan } from '../plan/definition.ts';
import { countRounds, isDecided } from './compare.ts';
import { lastLook } from './looks.ts';

/** The end of a sequential test. */
export interface Ending {
  /** Complete rounds, and the rounds of the whole schedule. */
  rounds: number;
  of: number;
  /** `early`: before a verdict and before the last look, because of the budget or an interruption. */
  why: 'decided' | 'schedule-over' | 'early';
  /** Rounds of the last look that was reached; absent before the first. */
  look?: number;
  firstLook: number;
}

/** Returns when and why a sequential test ended; undefined for a run of fixed rounds. */
export function endingOf(plan: Plan, trials: Trial[]): Ending | undefined {
  if (plan.sequentialTest === undefined) return undefined;
  const schedule = scheduleNamed(plan.sequentialTest.looks);
  const rounds = countRounds(plan, trials);
  const look = lastLook(schedule, rounds)?.rounds;
  return {
    rounds,
    of: plan.rounds,
    why: isDecided(plan, trials) ? 'decided' : rounds >= plan.rounds ? 'schedule-over' : 'early',
    ...(look === undefined ? {} : { look }),
    firstLook: schedule[0]?.rounds ?? plan.rounds,
  };
}

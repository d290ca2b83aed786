import { scheduleNamed } from '../catalogue/looks.ts';
import type { Trial } from '../results/record.ts';
import type { Plan } from '../plan/definition.ts';
import { type Standing, trackRun } from './due.ts';

/** The end of a sequential test. */
export interface Ending {
  /** Complete rounds, and the rounds of the whole schedule. */
  rounds: number;
  of: number;
  /**
   * `hopeless`: what is undecided has lost too many rounds. `early`: before a verdict and before the last look, because
   * of the budget or an interruption.
   */
  why: 'decided' | 'hopeless' | 'schedule-over' | 'early';
  /** Rounds of the last look that was reached; absent before the first. */
  look?: number;
  firstLook: number;
}

/** Returns when and why a sequential test ended; undefined for a run of fixed rounds. */
export function endingOf(plan: Plan, trials: Trial[]): Ending | undefined {
  if (plan.sequentialTest === undefined) return undefined;
  const schedule = scheduleNamed(plan.sequentialTest.looks);
  const tracker = trackRun(plan);
  const rounds = tracker.countRounds(trials);
  const standing = tracker.standing(trials);
  return {
    rounds,
    of: plan.rounds,
    why: causeOf(standing, rounds >= plan.rounds),
    ...(standing === undefined ? {} : { look: standing.rounds }),
    firstLook: schedule[0]?.rounds ?? plan.rounds,
  };
}

function causeOf(standing: Standing | undefined, isScheduleOver: boolean): Ending['why'] {
  if (standing?.open.length === 0) return standing.lost.length > 0 ? 'hopeless' : 'decided';
  return isScheduleOver ? 'schedule-over' : 'early';
}

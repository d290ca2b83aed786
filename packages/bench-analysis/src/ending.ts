import type { Trial } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import { foreseeTable } from './compare.ts';
import { dueTrials, type Standing, trackRun } from './due.ts';

/** The end of a sequential test. */
export interface Ending {
  /** Complete rounds, and the rounds of the whole schedule. */
  rounds: number;
  of: number;
  /**
   * `hopeless`: what is undecided has lost too many rounds. `early`: before the last look, because of the budget or an
   * interruption.
   */
  why: 'decided' | 'hopeless' | 'schedule-over' | 'early';
  /** The comparisons that are undecided at the end, and all of them. */
  undecided: number;
  comparisons: number;
  /** The fewest rounds that decide them; undefined if no number does. */
  fewest: number | undefined;
}

/**
 * Returns the plan of a run that ends after these trials. If trials are still due, it was stopped: its comparisons are looked
 * at after the last complete round, which its plan keeps for the case that it is continued.
 */
export function stopRun(plan: Plan, trials: readonly Trial[]): Plan {
  const tracker = trackRun(plan);
  const rounds = tracker.countRounds(trials);
  const { stops = [] } = plan;
  if (rounds === 0 || rounds >= plan.rounds || stops.includes(rounds)) return plan;
  return dueTrials(plan, trials, tracker).length === 0 ? plan : { ...plan, stops: [...stops, rounds] };
}

/** Returns when and why a sequential test ended; undefined for a run of fixed rounds. */
export function endingOf(asked: Plan, trials: Trial[]): Ending | undefined {
  if (asked.sequentialTest === undefined) return undefined;
  const plan = stopRun(asked, trials);
  const tracker = trackRun(plan);
  const rounds = tracker.countRounds(trials);
  const standing = tracker.standing(trials);
  const all = standing?.rows ?? [];
  return {
    rounds,
    of: plan.rounds,
    why: causeOf(standing, {
      isOver: rounds >= plan.rounds,
      isStopped: plan.stops?.includes(rounds) === true,
    }),
    undecided: all.filter(({ comparison }) => comparison.verdict === 'undecided').length,
    comparisons: all.length,
    fewest: foreseeTable(asked).fewestRounds,
  };
}

function causeOf(
  standing: Standing | undefined,
  { isOver, isStopped }: { isOver: boolean; isStopped: boolean },
): Ending['why'] {
  if (isStopped) return 'early';
  if (standing?.open.length === 0) return standing.lost.length > 0 ? 'hopeless' : 'decided';
  return isOver ? 'schedule-over' : 'early';
}

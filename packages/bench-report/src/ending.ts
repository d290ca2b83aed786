/** The reason why a run stopped. */
import type { Ending } from 'bench-analysis/due';
import { METRICS } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import { countOf, formatBudget } from './format.ts';
import { describeNeeded } from './words.ts';

/**
 * Says why a sequential test stopped, and what it left undecided; empty for a run of fixed rounds, and if no round is complete.
 * Beside a table by another metric, it names the metric of the test.
 */
export function describeEnding(
  ending: Ending | undefined,
  { sequentialTest }: Pick<Plan, 'sequentialTest'>,
  by = sequentialTest?.by,
): string[] {
  if (ending === undefined || sequentialTest === undefined || ending.rounds === 0) return [];
  const { rounds, of } = ending;
  const what = by === sequentialTest.by ? '' : ` of ${METRICS[sequentialTest.by].label}`;
  const head = rounds < of ? `${rounds} of at most ${countOf(of, 'round')}` : `all ${countOf(of, 'round')}`;
  const cause = describeCause(ending, sequentialTest.budgetSeconds);
  return [`stopped after ${head}${cause}: ${describeLeft(ending, what)}`];
}

function describeCause({ why }: Ending, budgetSeconds = 0): string {
  const budget = `the budget of ${formatBudget(budgetSeconds)} holds no more`;
  const early = `${budget}, or the run was interrupted`;
  const causes: Partial<Record<Ending['why'], string>> = { interrupted: 'interrupted', budget, early };
  return causes[why] === undefined ? '' : ` (${causes[why]})`;
}

/** Says how many comparisons are left undecided. `what` names their metric. */
function describeLeft(
  { rounds, of, why, undecided, comparisons, fewest = of }: Ending,
  what: string,
): string {
  if (why === 'hopeless') return 'the undecided comparisons have lost too many rounds to be decided';
  if (comparisons === 0) return 'nothing was compared';
  if (undecided === 0) return `every comparison${what} is decided`;
  if (rounds < fewest) return describeNeeded(fewest, rounds);
  if (comparisons === 1) return `the comparison${what} is undecided`;
  return `${undecided} of ${comparisons} comparisons${what} ${undecided === 1 ? 'is' : 'are'} undecided`;
}

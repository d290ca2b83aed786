/** Warnings about the verdicts that a plan can reach, and the reason why a run stopped. */
import { foreseeTable } from '../analyse/compare.ts';
import { endingOf } from '../analyse/ending.ts';
import { fewestRounds } from '../analyse/looks.ts';
import { FEWEST_ROUNDS } from '../analyse/verdict.ts';
import type { Trial } from '../results/record.ts';
import { estimateSeconds } from '../plan/plan.ts';
import type { Plan } from '../plan/definition.ts';
import { countOf, formatBudget, formatSpan } from './format.ts';

/** Warnings about a plan whose comparisons cannot all be decided: too many rows for its rounds, or too small a budget. */
export function describeProspects(plan: Plan): string[] {
  const { rows, schedule, decisiveRounds } = foreseeTable(plan);
  if (rows === 0 || plan.quick) return [];
  const table = countOf(rows, 'comparison');
  const { sequentialTest } = plan;
  if (sequentialTest === undefined) {
    if (decisiveRounds !== undefined || plan.rounds < FEWEST_ROUNDS) return [];
    const needed = fewestRounds(rows);
    return [`${plan.rounds} rounds cannot decide ${table} in one table: use --rounds ${needed} or more`];
  }
  if (decisiveRounds === undefined) {
    return [
      `no look of ${sequentialTest.looks} can decide ${table} in one table: compare fewer targets at once, or use --looks 18/27/36`,
    ];
  }
  const first = schedule[0]?.rounds ?? decisiveRounds;
  return [
    ...(decisiveRounds > first
      ? [
          `${rows === 1 ? '' : `${table} share one error budget: `}the look after ${first} rounds cannot decide them. The first that can comes after ${decisiveRounds}`,
        ]
      : []),
    ...describeBudget(plan, decisiveRounds),
  ];
}

function describeBudget(plan: Plan, decisiveRounds: number): string[] {
  const { budgetSeconds } = plan.sequentialTest ?? {};
  if (budgetSeconds === undefined) return [];
  const perRound = estimateSeconds(plan) / plan.rounds;
  // A round that has begun is finished.
  const held = Math.ceil(budgetSeconds / perRound);
  if (held >= decisiveRounds) return [];
  const enough = formatSpan(perRound * decisiveRounds);
  return [
    `a budget of ${formatBudget(budgetSeconds)} allows about ${countOf(held, 'round')}, but the first look that can decide comes after ${decisiveRounds}: the run will probably end undecided. ${decisiveRounds} rounds take about ${enough}`,
  ];
}

/** Says why a sequential test stopped; empty for a run of fixed rounds. */
export function describeEnding(plan: Plan, trials: Trial[], interrupted?: boolean): string[] {
  const ending = endingOf(plan, trials);
  if (ending === undefined || ending.rounds === 0) return [];
  const { rounds, of, why, look, firstLook } = ending;
  const head = `stopped after ${rounds} of at most ${of} rounds`;
  if (why === 'decided') return [`${head}: every comparison is decided`];
  if (why === 'schedule-over') return [`stopped after ${rounds} rounds, the last look of the schedule`];
  const where =
    look === undefined ? `before the first look at ${firstLook}` : `undecided at the look after ${look}`;
  return [`${head}, ${where}: ${describeCause(plan, interrupted)}`];
}

/** Names the cause of an early end. The record does not keep it; only the run itself knows. */
function describeCause({ sequentialTest }: Plan, interrupted: boolean | undefined): string {
  const { budgetSeconds } = sequentialTest ?? {};
  const spent =
    budgetSeconds === undefined ? undefined : `the budget of ${formatBudget(budgetSeconds)} was spent`;
  if (spent === undefined || interrupted === true) return 'the run was interrupted';
  return interrupted === false ? spent : `${spent}, or the run was interrupted`;
}

/** Warnings about the verdicts that a plan can reach, and the reason why a run stopped. */
import { foreseeTable } from '../analyse/compare.ts';
import { trackRun } from '../analyse/due.ts';
import { endingOf, stopRun } from '../analyse/ending.ts';
import { findShortBudget } from '../analyse/time-budget.ts';
import { fewestRounds } from '../analyse/looks.ts';
import { foreseeOpen, foreseePower, type Noise, secondsUntil, soughtBy } from '../analyse/outlook.ts';
import { FEWEST_ROUNDS } from '../analyse/verdict.ts';
import type { Trial } from '../results/record.ts';
import type { Plan } from '../plan/definition.ts';
import { countOf, formatBudget, formatShare, formatSpan, formatWhole } from './format.ts';

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
  return decisiveRounds > first
    ? [
        `${rows === 1 ? '' : `${table} share one error budget: `}the look after ${first} rounds cannot decide them. The first that can comes after ${decisiveRounds}`,
      ]
    : [];
}

/**
 * Warns that what is left of a budget does not hold the rounds that a comparison needs. `spentSeconds` of it went to studies of
 * warm-up, and trials `before` are already measured.
 */
export function describeShortBudget(
  plan: Plan,
  { spentSeconds, before }: { spentSeconds: number; before: readonly Trial[] },
): string[] {
  const short = findShortBudget(plan, { spentSeconds, rounds: trackRun(plan).countRounds(before) });
  if (short === undefined) return [];
  const { budgetSeconds, held, needed, enoughSeconds } = short;
  return [
    `the budget of ${formatBudget(budgetSeconds)} allows about ${countOf(held, 'round')} with these warm-ups, and a comparison needs ${needed}: the run will probably end undecided. ${needed} rounds need --budget ${typeBudget(enoughSeconds)}`,
  ];
}

/** `90s`, `11m`: a span as it is typed, rounded up. */
export function typeBudget(seconds: number): string {
  return seconds <= 120 ? `${Math.ceil(seconds)}s` : `${Math.ceil(seconds / 60)}m`;
}

/** Foresees how long a sequential test takes to show a difference, from the noise of stored runs of this machine. */
export function describePower(plan: Plan, { runs, noise }: { runs: number; noise: Noise[] }): string[] {
  const sought = soughtBy(plan);
  const { rows: count } = foreseeTable(plan);
  if (sought === undefined || count === 0) return [];
  const prospect = foreseePower(plan, noise);
  if (prospect === undefined)
    return [`no stored run of this machine has rounds like these, so the time to a verdict is not known`];
  const { rows, isOfOthers, rounds, seconds } = prospect;
  const deviations = rows.map(({ deviation }) => deviation);
  const [least, most] = [Math.min(...deviations), Math.max(...deviations)].map(
    (one) => `${(100 * one).toFixed(1)} %`,
  );
  const each = count === 1 ? '' : ` in each of ${countOf(count, 'comparison')}`;
  const source = `${least === most ? least : `${least} to ${most}`} between rounds in ${countOf(runs, 'stored run')} of this machine${isOfOthers ? ', partly of other targets' : ''}`;
  const head = `about ${formatSpan(seconds)} (${countOf(rounds, 'round')}) to show ${formatShare(sought)}${each}: the ratio varies by ${source}`;
  const { budgetSeconds } = plan.sequentialTest ?? {};
  if (rounds > plan.rounds) return [`${head}. The last look comes earlier, after ${plan.rounds} rounds`];
  if (budgetSeconds !== undefined && seconds > budgetSeconds)
    return [`${head}. The budget of ${formatBudget(budgetSeconds)} ends before`];
  return [head];
}

/** Says of each undecided comparison which noise kept it from a verdict, and how long it would take. */
export function describeUndecided(plan: Plan, trials: Trial[]): string[] {
  const sought = soughtBy(plan);
  const standing = trackRun(stopRun(plan, trials)).standing(trials);
  if (sought === undefined || standing === undefined) return [];
  return foreseeOpen({ plan, trials }, standing.open).map((outlook) => {
    const { candidate, connections, deviation, rounds, measured } = outlook;
    const head = `${candidate} at ${formatWhole(connections)} is undecided: its ratio varies by ${(100 * deviation).toFixed(1)} % between rounds`;
    if (rounds <= measured)
      return `${head}, which is little. The difference is too close to the threshold of ${formatShare(plan.sequentialTest?.threshold ?? 0)}`;
    const more = secondsUntil(plan, [outlook], measured);
    return `${head}. To show ${formatShare(sought)}, it needs about ${countOf(rounds, 'round')}: ${formatSpan(more)} more`;
  });
}

/** Says why a sequential test stopped; empty for a run of fixed rounds. */
export function describeEnding(plan: Plan, trials: Trial[], interrupted?: boolean): string[] {
  const ending = endingOf(plan, trials);
  if (ending === undefined || ending.rounds === 0) return [];
  const { rounds, of, why, undecided, comparisons, fewest = of } = ending;
  const head = `stopped after ${rounds} of at most ${of} rounds`;
  if (why === 'decided') return [`${head}: every comparison is decided`];
  if (why === 'hopeless')
    return [`${head}: the undecided comparisons have lost too many rounds to be decided`];
  if (why === 'schedule-over') return [`stopped after ${rounds} rounds, the last look of the schedule`];
  const cause = describeCause(plan, interrupted);
  if (comparisons === 0) return [`${head}: ${cause}`];
  if (rounds < fewest) return [`${head}: ${cause}. A comparison needs ${fewest}`];
  return [
    `${head}: ${cause}. ${undecided === 0 ? 'Every comparison is decided' : `${countOf(undecided, 'comparison')} of ${comparisons} ${undecided === 1 ? 'is' : 'are'} undecided`}`,
  ];
}

/** Names the cause of an early end. The record does not keep it; only the run itself knows. */
function describeCause({ sequentialTest }: Plan, interrupted: boolean | undefined): string {
  const { budgetSeconds } = sequentialTest ?? {};
  const spent =
    budgetSeconds === undefined ? undefined : `the budget of ${formatBudget(budgetSeconds)} was spent`;
  if (spent === undefined || interrupted === true) return 'the run was interrupted';
  return interrupted === false ? spent : `${spent}, or the run was interrupted`;
}

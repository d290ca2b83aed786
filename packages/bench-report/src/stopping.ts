/** Warnings about the verdicts that a plan can reach, and the reason why a run stopped. */
import { foreseeTable } from 'bench-analysis/compare';
import { endingOf, stopRun, trackRun } from 'bench-analysis/due';
import {
  foreseeOpen,
  foreseePower,
  foreseeReach,
  type Noise,
  noiseOfPlan,
  secondsUntil,
  type Sought,
  soughtBy,
} from 'bench-analysis/outlook';
import { METRICS, type MetricId } from 'bench-model/metrics';
import type { Trial } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import { countOf, formatBudget, formatShare, formatSpan, nameCell } from './format.ts';
import { isSamePlace } from 'bench-model/planned';

/** Warnings about a plan whose comparisons cannot all be decided: a first look that has too few rounds for them. */
export function describeProspects(plan: Plan): string[] {
  const { rows, schedule, decisiveRounds } = foreseeTable(plan);
  if (rows === 0 || plan.quick) return [];
  // The last look of every schedule can decide 10,000 comparisons.
  if (plan.sequentialTest === undefined || decisiveRounds === undefined) return [];
  const first = schedule[0]?.rounds ?? decisiveRounds;
  return decisiveRounds > first
    ? [
        `${rows === 1 ? '' : `${countOf(rows, 'comparison')} share one error budget: `}the look after ${first} rounds cannot decide them. The first that can comes after ${decisiveRounds}`,
      ]
    : [];
}

/** `90s`, `11m`: a span as it is typed, rounded up. */
export function typeBudget(seconds: number): string {
  return seconds <= 120 ? `${Math.ceil(seconds)}s` : `${Math.ceil(seconds / 60)}m`;
}

/** The noise of stored comparisons, and the number of runs that it comes from. */
export interface StoredNoise {
  runs: number;
  noise: Noise[];
}

/**
 * Says which difference the comparisons of a plan find, from the noise of stored runs of this machine: `finds a difference
 * of 3.9 % with 95 % probability, 3.1 % with 80 %`. `label` says what the difference does instead. Empty without noise, and
 * for a plan that compares nothing or has too few rounds for an interval.
 */
export function describeReach(
  plan: Plan,
  noise: readonly Noise[],
  sought: Sought,
  label = 'finds a difference of',
): string[] {
  const reach = canCompare(plan) ? foreseeReach(plan, noise, sought) : undefined;
  if (reach === undefined) return [];
  const found = reach.found.map(({ probability, difference }) => ({
    odds: formatShare(probability),
    size: difference === undefined ? 'none' : formatPercent(difference),
  }));
  const sizes = found
    .filter(({ size }, index) => size !== found[index - 1]?.size)
    .map(({ odds, size }, index) => `${size} with ${odds}${index === 0 ? ' probability' : ''}`);
  const each = reach.rows === 1 ? '' : `, in each of ${countOf(reach.rows, 'comparison')}`;
  return [`${label} ${sizes.join(', ')}${each}`];
}

/** Says how much the ratios of a metric vary, from stored runs of this machine, or that no run is known to tell it. */
export function describeNoise(plan: Plan, { runs, noise }: StoredNoise, by: MetricId): string[] {
  if (!canCompare(plan)) return [];
  const expected = noiseOfPlan(plan, noise);
  const what = METRICS[by].label;
  if (expected === undefined)
    return [
      `no stored run of this machine has rounds like these, so the smallest difference in ${what} that this run finds is not known yet`,
    ];
  const [least, most] = [expected.deviations.low, expected.deviations.high].map(formatPercent);
  return [
    `at the noise of ${countOf(runs, 'stored run')} of this machine${expected.isOfOthers ? ', partly of other targets' : ''}: the ratio of ${what} varies by ${least === most ? least : `${least} to ${most}`} between rounds`,
  ];
}

/** Returns true if the rounds of a plan can give its comparisons intervals. */
function canCompare(plan: Plan): boolean {
  return foreseeTable(plan).fewestRounds !== undefined;
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Foresees how long a sequential test takes to show a difference, from the noise of stored runs of this machine. */
export function describePower(plan: Plan, noise: readonly Noise[]): string[] {
  const sought = soughtBy(plan);
  const { rows: count } = foreseeTable(plan);
  if (sought === undefined || count === 0) return [];
  const prospect = foreseePower(plan, noise);
  if (prospect === undefined) return [];
  const { rounds, seconds } = prospect;
  const each = count === 1 ? '' : ` in each of ${countOf(count, 'comparison')}`;
  const head = `about ${formatSpan(seconds)} (${countOf(rounds, 'round')}) to show ${formatShare(sought)}${each}`;
  const { budgetSeconds } = plan.sequentialTest ?? {};
  if (rounds > plan.rounds) return [`${head}. The last look comes earlier, after ${plan.rounds} rounds`];
  if (budgetSeconds !== undefined && seconds > budgetSeconds)
    return [`${head}. The budget of ${formatBudget(budgetSeconds)} ends before that`];
  return [head];
}

/** An interval that is longer than this many thresholds was not kept open by a difference close to one. */
const WIDE = 4;

/** Says of each undecided comparison which noise kept it from a verdict, and how long it would take. */
export function describeUndecided(plan: Plan, trials: Trial[]): string[] {
  const sought = soughtBy(plan);
  const standing = trackRun(stopRun(plan, trials)).standing(trials);
  if (sought === undefined || standing === undefined) return [];
  return foreseeOpen({ plan, trials }, standing.open).map((outlook) => {
    const { candidate, deviation, rounds, measured } = outlook;
    const row = standing.open.find((one) => one.candidate === candidate && isSamePlace(one, outlook));
    const { verdict, interval } = row?.comparison ?? { verdict: 'undecided' };
    const state = verdict !== 'undecided' ? 'differs, perhaps by less than the threshold' : 'is undecided';
    const head = `${nameCell({ ...outlook, target: candidate })} ${state}: its ratio varies by ${(100 * deviation).toFixed(1)} % between rounds`;
    const { threshold = 0 } = plan.sequentialTest ?? {};
    if (rounds <= measured)
      return interval !== undefined && interval.high - interval.low > WIDE * threshold
        ? `${head} in most of them, but not in all. Try again where nothing else runs`
        : `${head}, which is little. The difference is too close to the threshold of ${formatShare(threshold)}`;
    const more = secondsUntil(plan, [outlook], measured);
    return `${head}. To show ${formatShare(sought)}, it needs about ${countOf(rounds, 'round')}: ${formatSpan(more)} more`;
  });
}

/**
 * Says why a sequential test stopped; empty for a run of fixed rounds. Beside a table by another metric, it names the
 * metric of the test.
 */
export function describeEnding(
  plan: Plan,
  trials: Trial[],
  { interrupted, by = plan.sequentialTest?.by }: { interrupted?: boolean; by?: MetricId } = {},
): string[] {
  const ending = endingOf(plan, trials);
  const { sequentialTest } = plan;
  if (ending === undefined || sequentialTest === undefined || ending.rounds === 0) return [];
  const { rounds, of, why, undecided, comparisons, fewest = of } = ending;
  const what = by === sequentialTest.by ? '' : ` of ${METRICS[sequentialTest.by].label}`;
  const head = `stopped after ${rounds} of at most ${of} rounds`;
  if (why === 'decided') return [`${head}: every comparison${what} is decided`];
  if (why === 'hopeless')
    return [`${head}: the undecided comparisons have lost too many rounds to be decided`];
  if (why === 'schedule-over') return [`stopped after ${rounds} rounds, the last look of the schedule`];
  const cause = describeCause(plan, interrupted);
  if (comparisons === 0) return [`${head}: ${cause}`];
  if (rounds < fewest) return [`${head}: ${cause}. A comparison needs ${fewest}`];
  if (undecided === 0) return [`${head}: ${cause}. Every comparison${what} is decided`];
  if (comparisons === 1) return [`${head}: ${cause}. The comparison${what} is undecided`];
  return [
    `${head}: ${cause}. ${undecided} of ${comparisons} comparisons${what} ${undecided === 1 ? 'is' : 'are'} undecided`,
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

/**
 * Comparisons of two plans by their repeats. A run is paired with its neighbour in time of the other plan, so that slow
 * changes of the machine cancel, and the pairs show the variance between runs.
 */
import type { Verdict } from 'bench-model/options';
import { mean, sum } from 'bench-statistics/numbers';
import type { Interval } from 'bench-model/interval';
import type { StoredRun } from './results/store.ts';
import type { Rules } from './comparison.ts';
import { ERROR_BUDGET } from './looks.ts';
import { studentPoint } from 'bench-statistics/student';
import { judge, type Ratio, thetaOf, toRatio } from './verdict.ts';

/** Fewer pairs show too little of the variance between runs. */
export const FEWEST_PAIRS = 3;

/** Returns the moment when the first trial of a run began; undefined if it has no trials. */
export function startOf({ trials }: Pick<StoredRun, 'trials'>): string | undefined {
  return trials.map(({ startedAt }) => startedAt).toSorted()[0];
}

/** A target in pairs of runs. */
export interface RepeatedComparison {
  pairs: number;
  verdict: Verdict;
  ratio: Ratio & { interval: Interval };
}

/**
 * Pairs runs of two plans that are neighbours in time, from the first on; no run is in two pairs. If all runs of one plan
 * came before those of the other, there is one pair.
 */
export function pairInTime<Run extends { startedAt: string }>(
  old: readonly Run[],
  now: readonly Run[],
): { old: Run; new: Run }[] {
  const all = [...old.map((run) => ({ run, isNew: false })), ...now.map((run) => ({ run, isNew: true }))];
  const pairs: { old: Run; new: Run }[] = [];
  let last: (typeof all)[number] | undefined;
  for (const next of all.toSorted((a, b) => a.run.startedAt.localeCompare(b.run.startedAt))) {
    if (last === undefined || last.isNew === next.isNew) {
      last = next;
      continue;
    }
    pairs.push(last.isNew ? { old: next.run, new: last.run } : { old: last.run, new: next.run });
    last = undefined;
  }
  return pairs;
}

/**
 * Compares targets by the log ratios of their pairs of runs, above 0 the candidate is worse: the mean, and Student's
 * interval. All intervals of a table share the error of 5 % equally. Undefined for a target with fewer than `FEWEST_PAIRS`.
 */
export function compareRepeats(
  rows: readonly (readonly number[])[],
  { better, threshold }: Rules,
): (RepeatedComparison | undefined)[] {
  return rows.map((differences) => {
    const pairs = differences.length;
    if (pairs < FEWEST_PAIRS) return undefined;
    const estimate = mean(differences);
    const variance = sum(differences.map((one) => (one - estimate) ** 2)) / (pairs - 1);
    const half = studentPoint(pairs - 1, ERROR_BUDGET / rows.length) * Math.sqrt(variance / pairs);
    const interval = { low: estimate - half, high: estimate + half };
    const range = { low: Math.min(...differences), high: Math.max(...differences) };
    const ratio = toRatio({ estimate, interval, range }, better);
    const { verdict } = judge(estimate, interval, thetaOf(threshold));
    return { pairs, verdict, ratio: { ...ratio, interval: ratio.interval ?? range } };
  });
}

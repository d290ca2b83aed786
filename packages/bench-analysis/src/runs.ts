/**
 * Two runs of different times, target by target. Their ratio includes every other change between them, also that of the
 * machine, so it has no interval and no verdict, unless repeats of both show how much runs vary. Then a run is paired with its
 * neighbour in time of the other plan, so that slow changes of the machine cancel.
 */
import { BenchError } from 'bench-model/errors';
import { METRICS } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import { isDisturbed, isSamePlace, placesOf, type Place } from 'bench-model/planned';
import type { StoredRun } from './results/store.ts';
import { cellOf } from './cells.ts';
import type { Question } from './compare.ts';
import { type Figure, type Row, summarise } from './summary.ts';
import type { Factor } from './unlike.ts';
import { studentInterval } from 'bench-statistics/student';
import type { Rules } from './comparison.ts';
import { ERROR_BUDGET } from './looks.ts';
import { judge, logRatio, type Ratio, thetaOf, toRatio } from './verdict.ts';
import type { Interval } from 'bench-model/interval';
import type { Verdict } from 'bench-model/options';

/** A target of two runs at one place. */
export interface RunsRow extends Place {
  /** The target of the new run. */
  candidate: string;
  /** The same target in the old run. */
  baseline: string;
  /** The figures that the reports of the runs show; absent if a run has none. */
  old?: Figure;
  new?: Figure;
  /** new ÷ old. Absent unless both figures are valid and exact. */
  ratio?: number;
  /** The comparison of all repeats; absent if too few of them are neighbours in time. */
  repeated?: RepeatedComparison;
}

/** The stored runs with the plan and the versions of two runs, these included. */
export interface Repeats {
  old: readonly StoredRun[];
  new: readonly StoredRun[];
}

/** One metric of the targets that two runs share. */
export interface RunsTable extends Omit<Question, 'baseline'> {
  rows: RunsRow[];
  /** The numbers of repeats of each run; absent if neither was repeated. */
  repeats?: { old: number; new: number };
}

/**
 * Compares the targets that two runs share; `across` is the factor in which they may differ. `repeats` may be those of both
 * runs. Throws a usage error if they share no target.
 */
export function compareRuns(
  old: StoredRun,
  now: StoredRun,
  { by, threshold }: Omit<Question, 'baseline'>,
  { across, repeats = { old: [old], new: [now] } }: { across?: Factor; repeats?: Repeats } = {},
): RunsTable {
  const [then, here] = [entrantsOf(old.plan, across), entrantsOf(now.plan, across)];
  const shared = [...then].flatMap(([name, baseline]) => {
    const candidate = here.get(name);
    return candidate === undefined ? [] : [{ candidate, baseline }];
  });
  if (shared.length === 0)
    throw new BenchError('usage', 'the two runs share no target', 'compare runs of the same targets');
  const places = placesOf(now.plan);
  const pairs = placesOf(old.plan)
    .filter((place) => places.some((one) => isSamePlace(one, place)))
    .flatMap((place) => shared.map((pair) => ({ ...place, ...pair })));
  const [before, after] = [old, now].map(figuresOf);
  const rows = pairs.map(({ candidate, baseline, ...place }): RunsRow => {
    const a = before?.get(cellOf({ target: baseline, ...place }))?.[by];
    const b = after?.get(cellOf({ target: candidate, ...place }))?.[by];
    return {
      ...place,
      candidate,
      baseline,
      ...(a !== undefined && { old: a }),
      ...(b !== undefined && { new: b }),
      ...(isExact(a) && isExact(b) && { ratio: b.median / a.median }),
    };
  });
  const hasRepeats = repeats.old.length + repeats.new.length > 2;
  return {
    by,
    threshold,
    rows: hasRepeats ? addRepeats(rows, repeats, { by, threshold }) : rows,
    ...(hasRepeats && { repeats: { old: repeats.old.length, new: repeats.new.length } }),
  };
}

/** Adds the comparisons of all repeats to the rows that have enough pairs of them. */
function addRepeats(
  rows: RunsRow[],
  repeats: Repeats,
  { by, threshold }: Omit<Question, 'baseline'>,
): RunsRow[] {
  const { better } = METRICS[by];
  const [before, after] = [repeats.old, repeats.new].map((runs) =>
    runs.flatMap((run) => {
      const startedAt = startOf(run);
      return startedAt === undefined ? [] : [{ startedAt, figures: figuresOf(run) }];
    }),
  );
  const pairs = pairInTime(before ?? [], after ?? []);
  const differences = rows.map(({ candidate, baseline, ...place }) =>
    pairs.flatMap((pair) => {
      const a = pair.old.figures.get(cellOf({ target: baseline, ...place }))?.[by];
      const b = pair.new.figures.get(cellOf({ target: candidate, ...place }))?.[by];
      const ratio = isExact(a) && isExact(b) ? logRatio(b.median, a.median, better) : undefined;
      return ratio === undefined ? [] : [ratio];
    }),
  );
  const compared = compareRepeats(differences, { better, threshold });
  return rows.map((row, index) => {
    const repeated = compared[index];
    return repeated === undefined ? row : { ...row, repeated };
  });
}

function figuresOf({ trials }: StoredRun): Map<string, Row['figures']> {
  return new Map(summarise(trials).map((row) => [cellOf(row), row.figures]));
}

function isExact(figure: Figure | undefined): figure is Figure {
  return figure !== undefined && figure.valid && !figure.atLeast && figure.median > 0;
}

/** Maps the names that pair two runs to the targets of one of them; across backgrounds, only disturbed targets if it has any. */
function entrantsOf({ targets }: Plan, across: Factor | undefined): Map<string, string> {
  const disturbed = across === 'background' ? targets.filter(isDisturbed) : [];
  if (disturbed.length === 0) return new Map(targets.map(({ id }) => [id, id]));
  return new Map(disturbed.map((target) => [target.repeats?.targetId ?? target.id, target.id]));
}

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
    const { mean: estimate, margin } = studentInterval(differences, ERROR_BUDGET / rows.length);
    const interval = { low: estimate - margin, high: estimate + margin };
    const range = { low: Math.min(...differences), high: Math.max(...differences) };
    const ratio = toRatio({ estimate, interval, range }, better);
    const { verdict } = judge(estimate, interval, thetaOf(threshold));
    return { pairs, verdict, ratio: { ...ratio, interval: ratio.interval ?? range } };
  });
}

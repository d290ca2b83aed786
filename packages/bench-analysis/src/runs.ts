/**
 * Two runs of different times, target by target. Their ratio includes every other change between them, also that of the
 * machine, so it has no interval and no verdict.
 */
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { isDisturbed, isSamePlace, placesOf, type Place } from 'bench-model/planned';
import type { StoredRun } from './results/store.ts';
import { cellOf } from './cells.ts';
import type { Question } from './compare.ts';
import { type Figure, summarise } from './summary.ts';
import type { Factor } from './unlike.ts';

/** A target of two runs at one place. */
export interface RunsRow extends Place {
  /** The target of the new run. */
  candidate: string;
  /** The same target in the old run. */
  baseline: string;
  /** The figures that the reports of the runs show; absent if a run has none. */
  old?: Figure;
  new?: Figure;
  /** new ÷ old. Absent unless both figures are valid and exact, and for capacities. */
  ratio?: number;
}

/** One metric of the targets that two runs share. */
export interface RunsTable extends Omit<Question, 'baseline'> {
  rows: RunsRow[];
}

/** Compares the targets that two runs share, and may differ in `across`. Throws a usage error if they share none. */
export function compareRuns(
  old: StoredRun,
  now: StoredRun,
  { by, threshold }: Omit<Question, 'baseline'>,
  across?: Factor,
): RunsTable {
  const [then, here] = [entrantsOf(old.plan, across), entrantsOf(now.plan, across)];
  const shared = [...then].flatMap(([name, baseline]) => {
    const candidate = here.get(name);
    return candidate === undefined ? [] : [{ candidate, baseline }];
  });
  if (shared.length === 0)
    throw new UsageError('the two runs share no target', 'compare runs of the same targets');
  const places = placesOf(now.plan);
  const pairs = placesOf(old.plan)
    .filter((place) => places.some((one) => isSamePlace(one, place)))
    .flatMap((place) => shared.map((pair) => ({ ...place, ...pair })));
  const [before, after] = [old, now].map(
    ({ trials }) => new Map(summarise(trials).map((row) => [cellOf(row), row.figures])),
  );
  // A capacity is that of its run: between two days, equal servers differed by 32 %.
  const mayDiffer = by !== 'capacity';
  const rows = pairs.map(({ candidate, baseline, ...place }): RunsRow => {
    const a = before?.get(cellOf({ target: baseline, ...place }))?.[by];
    const b = after?.get(cellOf({ target: candidate, ...place }))?.[by];
    const ratio = mayDiffer && isExact(a) && isExact(b) ? b.median / a.median : undefined;
    return { ...place, candidate, baseline, ...present({ old: a, new: b, ratio }) };
  });
  return { by, threshold, rows };
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

/** Returns the moment when the first trial of a run began; undefined if it has no trials. */
export function startOf({ trials }: Pick<StoredRun, 'trials'>): string | undefined {
  return trials.map(({ startedAt }) => startedAt).toSorted()[0];
}

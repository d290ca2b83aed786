/**
 * Two runs of different times, target by target. Their ratio includes every other change between them, also that of the
 * machine, so it has no interval and no verdict.
 */
import { BenchError } from '../errors.ts';
import type { MetricId } from '../metrics.ts';
import type { Plan } from '../plan/definition.ts';
import { undisturbedOf } from '../plan/repeats.ts';
import type { StoredRun } from '../results/store.ts';
import { cellOf } from './cells.ts';
import { isDisturbed } from './compare.ts';
import { type Figure, type Row, summarise } from './summary.ts';
import type { Factor } from './unlike.ts';

/** A target of two runs at one rung. */
export interface RunsRow {
  connections: number;
  /** The target of the new run. */
  candidate: string;
  /** The same target in the old run. */
  baseline: string;
  /** The figures that the reports of the runs show; absent if a run has none. */
  old?: Figure;
  new?: Figure;
  /** new ÷ old. Absent unless both figures are valid and exact. */
  ratio?: number;
}

/** One metric of the targets that two runs share. */
export interface RunsTable {
  by: MetricId;
  rows: RunsRow[];
}

/** Compares the targets that two runs share; `across` is the factor in which they may differ. Throws a usage error if they share none. */
export function compareRuns(old: StoredRun, now: StoredRun, by: MetricId, across?: Factor): RunsTable {
  const [then, here] = [entrantsOf(old.plan, across), entrantsOf(now.plan, across)];
  const shared = [...then].flatMap(([name, baseline]) => {
    const candidate = here.get(name);
    return candidate === undefined ? [] : [{ candidate, baseline }];
  });
  if (shared.length === 0)
    throw new BenchError('usage', 'the two runs share no target', 'compare runs of the same targets');
  const pairs = old.plan.rungs
    .filter((rung) => now.plan.rungs.includes(rung))
    .flatMap((connections) => shared.map((pair) => ({ connections, ...pair })));
  const [before, after] = [old, now].map(figuresOf);
  const rows = pairs.map(({ connections, candidate, baseline }): RunsRow => {
    const a = before?.get(cellOf({ target: baseline, connections }))?.[by];
    const b = after?.get(cellOf({ target: candidate, connections }))?.[by];
    return {
      connections,
      candidate,
      baseline,
      ...(a !== undefined && { old: a }),
      ...(b !== undefined && { new: b }),
      ...(isExact(a) && isExact(b) && { ratio: b.median / a.median }),
    };
  });
  return { by, rows };
}

function figuresOf({ trials }: StoredRun): Map<string, Row['figures']> {
  return new Map(summarise(trials).map((row) => [cellOf(row), row.figures]));
}

function isExact(figure: Figure | undefined): figure is Figure {
  return figure !== undefined && figure.valid && !figure.atLeast && figure.median > 0;
}

/** Maps the names that pair two runs to the targets of one of them; across backgrounds, only disturbed targets if it has any. */
function entrantsOf({ targets }: Plan, across: Factor | undefined): Map<string, string> {
  const disturbed = across === 'background' ? targets.filter((target) => isDisturbed(target, targets)) : [];
  if (disturbed.length === 0) return new Map(targets.map(({ id }) => [id, id]));
  return new Map(disturbed.map((target) => [undisturbedOf(target, targets) ?? target.id, target.id]));
}

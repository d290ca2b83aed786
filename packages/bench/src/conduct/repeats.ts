/** The stored runs that repeat others. */
import { dirname, join } from 'node:path';
import type { Repeats } from 'bench-analysis/runs';
import { unlikeHosts } from 'bench-analysis/unlike';
import { BenchError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import type { RunFile } from 'bench-model/run';
import { listRuns, readRun, readRunFile, type StoredRun } from 'bench-analysis/results/store';

/**
 * Reads the repeats of two runs: the runs beside them, and those of this checkout or project, with the same plan, versions
 * and machine. Undefined if both runs repeat one plan with the same versions: then there are no two sides.
 */
export function readRepeats(old: StoredRun, now: StoredRun): Repeats | undefined {
  if (keyOf(old) === keyOf(now)) return undefined;
  const folders = new Set([
    HOME.results,
    join(HOME.results, 'published'),
    dirname(old.folder),
    dirname(now.folder),
  ]);
  const stored = [...folders].flatMap((folder) => listRuns(folder).map((id) => join(folder, id)));
  return { old: readAlike(old, stored), new: readAlike(now, stored) };
}

function readAlike(run: StoredRun, folders: readonly string[]): StoredRun[] {
  const key = keyOf(run);
  const others = folders.flatMap((folder): StoredRun[] => {
    try {
      const other = readRunFile(folder);
      if (other.plan.run === run.plan.run || keyOf(other) !== key) return [];
      const repeat = readRun(folder);
      return unlikeHosts(run.host, repeat.host).length > 0 ? [] : [repeat];
    } catch (error) {
      if (error instanceof BenchError) return [];
      throw error;
    }
  });
  return [run, ...new Map(others.map((other) => [other.plan.run, other])).values()];
}

/** Two runs with the same key repeat one plan, of which --again changes only the order and the data, on the same versions. */
function keyOf({ plan, versions }: Pick<RunFile, 'plan' | 'versions'>): string {
  const { run: _run, seed: _seed, trials: _trials, stops: _stops, ...rest } = plan;
  return JSON.stringify([
    rest,
    Object.entries(versions)
      .map((one) => one.join(' '))
      .toSorted(),
  ]);
}

/** The noise between rounds in the stored runs of this machine, for plans like one. */
import { HOME } from 'bench-machine/home';
import { join } from 'node:path';
import { type Noise, noiseOf } from 'bench-analysis/outlook';
import { unlikeHosts } from 'bench-analysis/unlike';
import { BenchError } from 'bench-model/errors';
import { readHost } from 'bench-machine/host';
import type { MetricId } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import type { StoredNoise } from 'bench-report/stopping';
import { listRuns, readRun, readRunFile, type StoredRun } from 'bench-analysis/results/store';

/** Older runs say less of the machine as it is now, and reading them takes time. */
const MOST_RUNS = 10;

/** Reads the noise of the newest runs of this machine with the workload, the window and the kind of rounds of a plan. */
export async function readNoise(plan: Plan, by: MetricId): Promise<StoredNoise> {
  const host = await readHost();
  const folders = listRuns().map((run) => join(HOME.results, run));
  const found: Noise[][] = [];
  for (const folder of folders.toReversed()) {
    if (found.length === MOST_RUNS) break;
    const run = tryAlike(plan, folder);
    if (run === undefined || unlikeHosts(run.host, host).length > 0) continue;
    const noise = noiseOf(run, by);
    if (noise.length > 0) found.push(noise);
  }
  return { runs: found.length, noise: found.flat() };
}

/** Returns true if the rounds of two plans are equally long and of the same kind. */
function isAlike(plan: Plan, other: Plan): boolean {
  return (
    plan.workload === other.workload &&
    plan.byTurns?.turnSeconds === other.byTurns?.turnSeconds &&
    plan.windowSeconds === other.windowSeconds &&
    plan.load.mode === other.load.mode &&
    plan.workers === other.workers
  );
}

/** Reads a run whose rounds are alike; undefined for any other, and if this version cannot read it. */
function tryAlike(plan: Plan, folder: string): StoredRun | undefined {
  try {
    return isAlike(plan, readRunFile(folder).plan) ? readRun(folder) : undefined;
  } catch (error) {
    if (error instanceof BenchError) return undefined;
    throw error;
  }
}

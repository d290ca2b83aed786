/** From a request to a plan. */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Budget } from 'bench-analysis/budgets';
import { startedFresh } from 'bench-analysis/unlike';
import { readApp } from 'bench-targets/catalogue/apps/app';
import type { EngineName } from 'bench-model/engines';
import { readStacks } from 'bench-targets/catalogue/stacks';
import type { BenchRequest } from '../plan/request.ts';
import { HOME } from 'bench-machine/home';
import { tryCgroup } from 'bench-machine/cgroup';
import { readCapacity } from 'bench-machine/facts';
import { refuseCores } from 'bench-machine/preflight';
import type { Plan } from 'bench-model/plan';
import { present, type BenchOptions } from 'bench-model/options';
import { makePlan, nameRun, repeatInCopies, repeatPlan } from '../plan/plan.ts';
import type { Trial } from 'bench-model/record';
import { findRun, readRun, type StoredRun } from 'bench-analysis/results/store';
import { addRoutes } from './openapi.ts';

/** A request with everything that it refers to. */
export interface Foreseen {
  /** The id of the run. */
  run: string;
  options: BenchRequest;
  /** The same before the routes of an OpenAPI document were added. */
  written: BenchRequest;
  /** The plan. If the rate is measured first, it lacks only the rate. */
  plan: Plan;
  /** The run to complete. */
  stored: StoredRun | undefined;
  /** The run whose plan is repeated, and with which the new run is compared. */
  old: StoredRun | undefined;
  /** The budgets of a job by which the run is judged. */
  budgets?: Budget[];
  /** Returns false if its trials so far show that more of them are in vain. */
  goesOn?: (trials: readonly Trial[]) => boolean;
}

/** Makes the plan of a request. Throws a usage error if it cannot be made. */
export async function foresee(written: BenchRequest): Promise<Foreseen> {
  const again = written.again === undefined ? undefined : readRun(findRun(written.again));
  const asked = await addCopies(await addRoutes(written), again);
  // The CPU of a server that is already running is read from its processes, not from a cgroup.
  const readsCpu = asked.servers !== undefined || (await tryCgroup()).version !== undefined;
  const capacity = readsCpu ? { capacity: await readCapacity() } : {};
  const crossCheck = asked.crossCheck === 'any' ? { crossCheck: await chooseCrossCheck() } : {};
  const machineCores = availableParallelism();
  const options = { ...asked, ...crossCheck, ...manifestOfProject(asked), ...capacity, machineCores };
  const stored = options.resume === undefined ? undefined : readRun(findRun(options.resume));
  const plan = stored?.plan ?? named(planFrom('', options, again));
  const { run } = plan;
  refuseCores(plan.cores, machineCores);
  const old = options.copies === undefined ? again : undefined;
  return { run, options, written: { ...options, ...present({ asked: written.asked }) }, plan, stored, old };
}

async function chooseCrossCheck(): Promise<EngineName> {
  const { findCrossCheck } = await import('bench-load/engines');
  return findCrossCheck();
}

/**
 * Returns the options with the revisions as copies of the project, beside the commit of a run to repeat. Throws a usage
 * error for an unknown one.
 */
async function addCopies(
  { revisions = [], ...options }: BenchRequest,
  again: StoredRun | undefined,
): Promise<BenchRequest> {
  if (revisions.length === 0) return options;
  const { mayRepeatRevisions: mayRepeat = false } = options;
  if (again !== undefined) {
    const { findBeside } = await import('./baseline.ts');
    return { ...options, copies: await findBeside(again, revisions, { mayRepeat }) };
  }
  const { findRevisions } = await import('bench-targets/prepare/copies/revisions');
  const [app] = options.apps ?? [];
  const [manifest] = options.stacks;
  const folder = app?.folder ?? (manifest === undefined ? HOME.root : dirname(manifest));
  return { ...options, copies: await findRevisions(resolve(folder), revisions, { mayRepeat }) };
}

/** In a user's project, its manifest is the default: `bench-http bench` needs no further words. */
function manifestOfProject({ targets, stacks, apps, servers, all }: BenchOptions): { stacks?: string[] } {
  const isNamed = [...targets, ...stacks, ...(apps ?? []), ...(servers ?? [])].length > 0 || all;
  const file = join(HOME.root, 'stack.json');
  if (HOME.kind !== 'project' || isNamed || !existsSync(file)) return {};
  return { stacks: [relative(process.cwd(), file)] };
}

function named(plan: Plan): Plan {
  return { ...plan, run: nameRun(plan.workload) };
}

/** Makes the plan of a run; that of an old run in a new order or in other copies, if there is one. */
export function planFrom(run: string, options: BenchOptions, old: StoredRun | undefined): Plan {
  const seed = options.seed ?? randomInt(2 ** 32);
  const stacks = readStacks(options.stacks, options.apps?.map(readApp));
  if (old !== undefined) {
    const { copies, capacity } = options;
    const again =
      copies === undefined
        ? repeatPlan(old.plan, run, seed)
        : repeatInCopies(old.plan, copies, { run, seed, capacity, stacks });
    return startedFresh(old) ? { ...again, fresh: true } : again;
  }
  return makePlan(options, stacks, run, seed);
}

/** A closed loop that measures roughly how fast each target is. */
const PROBE = { load: { mode: 'closed' as const }, rounds: 1, warmupSeconds: 1, windowSeconds: 2 };

/** Returns the options of the probe: a closed loop, long enough to show roughly how fast each target is. */
export function probing({ sequentialTest: _sequentialTest, ...rest }: BenchOptions): BenchOptions {
  return { ...rest, ...PROBE, aa: false, duel: false };
}

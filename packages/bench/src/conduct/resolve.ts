/** From a request to a plan. */
import { randomInt } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { readApp } from 'bench-targets/catalogue/apps/app';
import { nameRuntimes } from 'bench-targets/prepare/names';
import { readStacks } from 'bench-targets/catalogue/stacks';
import type { BenchRequest } from '../plan/request.ts';
import { HOME } from 'bench-machine/home';
import { tryCgroup } from 'bench-machine/cgroup';
import { readCapacity } from 'bench-machine/facts';
import { refuseCores } from 'bench-machine/preflight';
import type { Plan } from 'bench-model/plan';
import { present, type BenchOptions } from 'bench-model/options';
import { makePlan, nameRun, repeatPlan } from '../plan/plan.ts';
import type { Trial } from 'bench-model/record';
import { findRun, readRun, type StoredRun } from 'bench-analysis/results/store';
import { logLine } from '../terminal/shell.ts';
import { addRoutes, askForDocument } from './openapi.ts';
import { refuseUnknown } from './begun.ts';
import type { Copy } from 'bench-model/target';

/** A request, resolved once: everything that it refers to has been found. */
export interface ResolvedRequest {
  /** As it was typed. */
  raw: BenchRequest;
  /** The options of its plans: with the routes and copies that it names, and what this machine can do. */
  options: BenchOptions;
  /** The plan. If the rate is measured first, it lacks only the rate. Without an OpenAPI document, it asks for that alone. */
  plan: Plan;
  /** The run to complete. */
  resumed: StoredRun | undefined;
  /** The run whose plan is repeated, and with which the new run is compared. */
  repeated: StoredRun | undefined;
  /** Returns false if its trials so far show that more of them are in vain. */
  goesOn?: (trials: readonly Trial[]) => boolean;
}

/** Resolves a request. Throws a usage error if its plan cannot be made. */
export async function resolveRequest(typed: BenchRequest): Promise<ResolvedRequest> {
  const raw = await nameRuntimes(typed);
  const repeated = raw.again === undefined ? undefined : readBegun(raw.again, '--again');
  const resumed = raw.resume === undefined ? undefined : readBegun(raw.resume, '--resume');
  const machineCores = availableParallelism();
  const options: BenchOptions = {
    ...(await addRoutes(raw)),
    ...present({ copies: await findCopies(raw) }),
    ...manifestOfProject(raw),
    ...((await readsCpu(raw)) ? { capacity: await readCapacity() } : {}),
    machineCores,
  };
  if (raw.upgrade !== undefined) {
    const { packages } = options.matrix;
    options.matrix = { ...options.matrix, packages: [] };
    const { targets } = planFrom('', askForDocument(options, raw));
    const { findUpgrade } = await import('./upgrade.ts');
    const known = readStacks(options.stacks, options.apps?.map(readApp));
    const { matrix, words } = await findUpgrade(targets, known, packages);
    options.matrix = matrix;
    options.isUpgrade = true;
    for (const line of words) logLine(line);
  }
  let made = resumed?.plan ?? planFrom('', askForDocument(options, raw), repeated);
  const isOfTwo = made.targets.length === 2 && resumed === undefined && repeated === undefined;
  if (isOfTwo && raw.ifTwo !== undefined && options.sequentialTest === undefined) {
    options.sequentialTest = raw.ifTwo;
    made = planFrom('', askForDocument(options, raw));
  }
  const plan = resumed === undefined ? { ...made, run: nameRun(made.workload) } : made;
  refuseCores(plan.cores, machineCores);
  return { raw, options, plan, resumed, repeated };
}

/** The CPU of a server that is already running is read from its processes, not from a cgroup. */
async function readsCpu({ servers }: BenchOptions): Promise<boolean> {
  return servers !== undefined || (await tryCgroup()).version !== undefined;
}

/** Reads a run whose plan is to be executed. Throws a usage error unless this user began it on this machine. */
function readBegun(name: string, flag: '--resume' | '--again'): StoredRun {
  const run = readRun(findRun(name));
  refuseUnknown(run, flag);
  return run;
}

/**
 * Returns the copies of the project: those that the request names, or its revisions. Throws a usage error for an unknown
 * revision.
 */
async function findCopies({
  revisions,
  copies,
  mayRepeatRevisions: mayRepeat = false,
  apps: [app] = [],
  stacks: [manifest],
}: BenchRequest): Promise<Copy[] | undefined> {
  if (revisions === undefined) return copies;
  const { findRevisions } = await import('bench-targets/prepare/copies/revisions');
  const folder = app?.folder ?? (manifest === undefined ? HOME.root : dirname(manifest));
  return findRevisions(resolve(folder), revisions, { mayRepeat });
}

/** In a user's project, its manifest is the default: `bench-http bench` needs no further words. */
function manifestOfProject({ targets, stacks, apps, servers, all }: BenchOptions): { stacks?: string[] } {
  const isNamed = [...targets, ...stacks, ...(apps ?? []), ...(servers ?? [])].length > 0 || all;
  return isNamed ? {} : present({ stacks: stacksOfProject() });
}

/** Returns the manifest of the user's project, as a path from here; undefined outside of one, and without a manifest. */
export function stacksOfProject(): string[] | undefined {
  const file = join(HOME.root, 'stack.json');
  // A link to nothing is refused when it is read.
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return HOME.kind === 'project' && isThere ? [relative(process.cwd(), file)] : undefined;
}

/** Makes the plan of a run; that of an old run in a new order, if there is one. */
export function planFrom(run: string, options: BenchOptions, old?: StoredRun): Plan {
  const seed = options.seed ?? randomInt(2 ** 32);
  if (old !== undefined) return repeatPlan(old.plan, { run, seed, without: options.without });
  return makePlan(options, readStacks(options.stacks, options.apps?.map(readApp)), run, seed);
}

/** A closed loop that measures roughly how fast each target is. */
const PROBE = { rounds: 1, warmupSeconds: 1, windowSeconds: 2 };

/** Returns the options of the probe: a closed loop, long enough to show roughly how fast each target is. */
export function probing({ sequentialTest: _sequentialTest, load, ...rest }: BenchOptions): BenchOptions {
  const { newConnections } = load;
  return {
    ...rest,
    ...PROBE,
    load: { mode: 'closed', ...present({ newConnections }) },
    noise: false,
    interleave: false,
  };
}

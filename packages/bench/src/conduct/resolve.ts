/** From the command line to a request that can be measured, and to its plan. */
import { randomInt } from 'node:crypto';
import { globSync, lstatSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { readApp } from 'bench-targets/catalogue/projects/app';
import { nameRuntimes } from 'bench-targets/prepare/names';
import { readStacks } from 'bench-targets/catalogue/stacks';
import type { BenchRequest } from '../plan/request.ts';
import { HOME } from 'bench-machine/home';
import { tryCgroup } from 'bench-machine/cgroup';
import { readCapacity } from 'bench-machine/facts';
import { refuseCores } from 'bench-machine/preflight';
import type { Plan } from 'bench-model/plan';
import { present, type BenchOptions } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import { choose, makePlan, repeatPlan, type Found } from '../plan/plan.ts';
import { refuseBudget, refuseFailOn, refuseSingle } from '../plan/refusals.ts';
import { restoreSecrets } from '../plan/secrets.ts';
import type { Trial } from 'bench-model/record';
import { findRun, readRun, type StoredRun } from 'bench-analysis/results/store';
import { logLine } from '../terminal/shell.ts';
import { addRoutes } from './openapi.ts';
import { refuseUnknown } from './begun.ts';
import type { Copy } from 'bench-model/target';

/** A request, resolved once: everything that it refers to has been found, and what cannot be measured is refused. */
export interface ResolvedRequest {
  raw: BenchRequest;
  /** The options of its plans: with the routes and copies that it names, and what this machine can do. */
  options: BenchOptions;
  stacks: Stack[];
  /** Its plan if all targets are here and answer at once: it says what to prepare, and a dry run prints it. */
  outline: Plan;
  /** True if the user named every target in full: a missing one is then an error. In a matrix or a glob, it is omitted. */
  isNamed: boolean;
  typed?: string[];
  resumed?: StoredRun;
  /** The run whose plan is repeated, and with which the new run is compared. */
  repeated?: StoredRun;
  /** Returns false if the trials of its plan so far show that more of them are in vain. */
  goesOn?: (plan: Plan, trials: readonly Trial[]) => boolean;
}

/** Resolves a request. Throws a usage error if it cannot be measured. */
export async function resolveRequest(typed: BenchRequest): Promise<ResolvedRequest> {
  const raw = await nameRuntimes(typed);
  const machineCores = availableParallelism();
  const request = resolveStored(raw) ?? (await resolveOptions(raw, machineCores));
  const { outline } = request;
  refuseCores(outline.cores, machineCores);
  refuseFailOn(raw, outline);
  if (request.resumed === undefined) refuseBudget(outline);
  return request;
}

/** Resolves a request that names no stored run. */
async function resolveOptions(raw: BenchRequest, machineCores: number): Promise<ResolvedRequest> {
  const options: BenchOptions = {
    ...(await addRoutes(raw)),
    ...present({ copies: await findCopies(raw) }),
    ...manifestOfProject(raw),
    ...((await readsCpu(raw)) ? { capacity: await readCapacity() } : {}),
    machineCores,
  };
  const stacks = readStacks(options.stacks, options.apps?.map(readApp));
  if (raw.upgrade !== undefined) {
    const { packages } = options.matrix;
    options.matrix = { ...options.matrix, packages: [] };
    const { targets } = choose(options, stacks);
    const { findUpgrade } = await import('./upgrade.ts');
    const { matrix, words } = await findUpgrade(targets, stacks, packages);
    options.matrix = matrix;
    options.isUpgrade = true;
    for (const line of words) logLine(line);
  }
  const { targets, workload } = choose(options, stacks);
  refuseSingle(raw, targets);
  if (targets.length === 2 && raw.ifTwo !== undefined) options.sequentialTest ??= raw.ifTwo;
  const seed = options.seed ?? randomInt(2 ** 32);
  const run = nameRun(workload.name, raw.suffix);
  const outline = makePlan(options, stacks, run, seed);
  return { raw, options, stacks, outline, isNamed: namesAll(options), ...present({ typed: raw.typed }) };
}

/** Returns the id of a run that starts now: the time, its purposes, and a number if another one began in the same second. */
function nameRun(...purposes: (string | undefined)[]): string {
  const moment = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const id = [moment, ...purposes.filter((one) => one !== undefined)].join('-');
  const begun = globSync(`${id}*`, { cwd: HOME.results }).length;
  return begun === 0 ? id : `${id}-${begun + 1}`;
}

function namesAll({ targets, matrix }: BenchOptions): boolean {
  const isMatrix = Object.values(matrix).some((alternatives) => alternatives.length > 1);
  return targets.length > 0 && !isMatrix && !targets.some((pattern) => pattern.includes('*'));
}

/** Resolves a request that names a stored run; undefined if it names none. */
function resolveStored(raw: BenchRequest): ResolvedRequest | undefined {
  const { resume, again, dryRun, secrets = { headers: {} } } = raw;
  const run = resume ?? again;
  if (run === undefined) return undefined;
  const flag = resume === undefined ? '--again' : '--resume';
  const stored = readRun(findRun(run));
  refuseUnknown(stored, flag);
  const plan = dryRun ? stored.plan : restoreSecrets(stored.plan, secrets, { flag, run });
  const found = { raw, options: raw, stacks: [], isNamed: false, ...present({ typed: stored.typed }) };
  if (resume !== undefined) return { ...found, outline: plan, resumed: stored };
  const own = { run: nameRun(plan.workload), seed: raw.seed ?? randomInt(2 ** 32) };
  return { ...found, outline: repeatPlan(plan, own), repeated: stored };
}

/** Makes the plan of a request, once: from what was found of its targets. A run that is resumed keeps its plan. */
export function planFrom(
  { options, stacks, outline, resumed, repeated }: ResolvedRequest,
  found: Found,
): Plan {
  if (resumed !== undefined) return outline;
  const { run, seed } = outline;
  return repeated === undefined
    ? makePlan(options, stacks, run, seed, found)
    : repeatPlan(outline, { run, seed }, found);
}

/** The CPU of a server that is already running is read from its processes, not from a cgroup. */
async function readsCpu({ servers }: BenchOptions): Promise<boolean> {
  return servers !== undefined || (await tryCgroup()).version !== undefined;
}

/** Returns the copies of the project, or its revisions. Throws a usage error for an unknown revision. */
async function findCopies(request: BenchRequest): Promise<Copy[] | undefined> {
  const { revisions, copies, mayRepeatRevisions: mayRepeat = false } = request;
  if (revisions === undefined) return copies;
  const { findRevisions, listDocuments } = await import('bench-targets/prepare/copies/revisions');
  const [app] = request.apps ?? [];
  const [manifest] = request.stacks;
  const folder = app?.folder ?? (manifest === undefined ? HOME.root : dirname(manifest));
  const found = await findRevisions(resolve(folder), revisions, { mayRepeat });
  const [one, other, ...more] = found;
  if (one === undefined || other === undefined || more.length > 0) return found;
  const documents = await listDocuments(resolve(folder), [one, other]);
  if (documents.length > 0) logLine(describeDocuments(one, other, documents));
  return found;
}

/** Says of two revisions that no server differs between them. */
function describeDocuments({ name: one }: Copy, { name: other }: Copy, [first, ...more]: string[]): string {
  const rest = more.length === 0 ? '' : ` and ${more.length} more`;
  return `warning: ${one} and ${other} differ only in documents: ${first}${rest}. Unless the server reads them, only noise makes their figures differ`;
}

/** In a user's project, its manifest is the default: `bench-http bench` needs no further words. */
function manifestOfProject({ targets, stacks, apps, servers }: BenchOptions): { stacks?: string[] } {
  const isNamed = [...targets, ...stacks, ...(apps ?? []), ...(servers ?? [])].length > 0;
  return isNamed ? {} : present({ stacks: stacksOfProject() });
}

/** Returns the manifest of the user's project, as a path from here; undefined outside of one, and without a manifest. */
export function stacksOfProject(): string[] | undefined {
  // A job of CI works in the folder of its configuration. A link to nothing is refused when it is read.
  const files = ['stack.json', relative(process.cwd(), join(HOME.root, 'stack.json'))];
  const file = files.find((one) => lstatSync(one, { throwIfNoEntry: false }) !== undefined);
  return HOME.kind === 'project' && file !== undefined ? [file] : undefined;
}

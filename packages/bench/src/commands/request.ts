/** From a request to a stored run: the plan, the session, the measurement. */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { startedFresh } from '../analyse/unlike.ts';
import { readApp } from '../catalogue/apps/app.ts';
import { readStacks } from '../catalogue/stacks.ts';
import type { BenchRequest } from '../cli/bench.ts';
import { BenchError } from '../errors.ts';
import { HOME } from '../home.ts';
import { findCrossCheck } from '../load/engines.ts';
import { tryCgroup } from '../machine/cgroup.ts';
import { readCapacity } from '../machine/facts.ts';
import { refuseCores } from '../machine/preflight.ts';
import type { Plan } from '../plan/definition.ts';
import { present, type BenchOptions } from '../plan/options.ts';
import { makePlan, nameRun, repeatInCopies, repeatPlan } from '../plan/plan.ts';
import { restoreSecrets, secretsIn } from '../plan/secrets.ts';
import { findRevisions } from '../prepare/copies/revisions.ts';
import { hide } from '../redact.ts';
import { countOf } from '../report/format.ts';
import { describeLeftOut } from '../report/requests.ts';
import { describeProspects } from '../report/stopping.ts';
import { findRun, readRun, shown, type StoredRun } from '../results/store.ts';
import { findBeside } from './baseline.ts';
import { measurePlan, type Job, type MeasuredRun } from './measure.ts';
import { addRoutes, askForRoutes, isAskedOfServer } from './openapi.ts';
import { openSession } from './session.ts';
import type { Voice } from './voice.ts';

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
}

/** Makes the plan of a request. Throws a usage error if it cannot be made. */
export async function foresee(written: BenchRequest): Promise<Foreseen> {
  const again = written.again === undefined ? undefined : readRun(findRun(written.again));
  const asked = await addCopies(await addRoutes(written), again);
  // The CPU of a server that is already running is read from its processes, not from a cgroup.
  const readsCpu = asked.servers !== undefined || (await tryCgroup()).version !== undefined;
  const capacity = readsCpu ? { capacity: await readCapacity() } : {};
  const crossCheck = asked.crossCheck === 'any' ? { crossCheck: await findCrossCheck() } : {};
  const machineCores = availableParallelism();
  const options = { ...asked, ...crossCheck, ...manifestOfProject(asked), ...capacity, machineCores };
  const stored = options.resume === undefined ? undefined : readRun(findRun(options.resume));
  const plan = stored?.plan ?? named(planFrom('', options, again));
  const { run } = plan;
  refuseCores(plan.cores, machineCores);
  const old = options.copies === undefined ? again : undefined;
  return { run, options, written: { ...options, ...present({ asked: written.asked }) }, plan, stored, old };
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
  if (again !== undefined) return { ...options, copies: await findBeside(again, revisions, { mayRepeat }) };
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

/** Measures a request and stores the run. Undefined if it was interrupted before there was a plan. */
export async function measureForeseen(
  { run, options: first, written, plan: planned, stored }: Foreseen,
  voice: Voice,
): Promise<(MeasuredRun & { plan: Plan }) | undefined> {
  const foreseen = restore(planned, first);
  hide(secretsIn(foreseen));
  // On other hosts, their own sessions measure alone.
  const isAlone = foreseen.spread === undefined;
  using session = await openSession(run, { isAlone, wait: first.wait, voice });
  const isOpen = isAskedOfServer(first);
  const options = isOpen ? await askForRoutes(first, written, foreseen, { session, voice }) : first;
  const ready = isOpen ? planFrom(run, options, undefined) : foreseen;
  for (const line of describeLeftOut(ready.asked)) voice.log(line);
  const means = { session, isNamed: namesAll(options), voice };
  const plan = options.autoRate ? await planAtHalf(run, options, means) : ready;
  if (plan === undefined) return undefined;
  for (const line of describeProspects(plan)) voice.log(`warning: ${line}`);
  return { ...(await measure({ ...means, plan, stored })), plan };
}

/** Measures a plan here, or on its hosts. Their code is loaded only for a plan that has some. */
async function measure(job: Job): Promise<MeasuredRun> {
  if (job.plan.spread === undefined) return measurePlan(job);
  const { measureSpread } = await import('./spread.ts');
  return measureSpread(job);
}

/** A closed loop that measures roughly how fast each target is. */
const PROBE = { load: { mode: 'closed' as const }, rounds: 1, warmupSeconds: 1, windowSeconds: 2 };

/**
 * Returns true if every target was named in full. A missing one is then an error; in a matrix or a glob it is
 * omitted.
 */
function namesAll({ targets, matrix }: BenchOptions): boolean {
  const isMatrix = Object.values(matrix).some((alternatives) => alternatives.length > 1);
  return targets.length > 0 && !isMatrix && !targets.some((pattern) => pattern.includes('*'));
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

/** Returns a stored plan with its secrets restored. */
function restore(plan: Plan, { resume, again, secrets }: BenchRequest): Plan {
  const run = resume ?? again;
  if (run === undefined) return plan;
  return restoreSecrets(plan, secrets ?? { headers: {} }, {
    flag: resume === undefined ? 'again' : 'resume',
    run,
  });
}

/** Returns the options of the probe: a closed loop, long enough to show roughly how fast each target is. */
export function probing({ sequentialTest: _sequentialTest, ...rest }: BenchOptions): BenchOptions {
  return { ...rest, ...PROBE, aa: false, duel: false };
}

/**
 * Returns the plan at half of the slowest target's goodput, which it measures first; undefined if interrupted.
 * Throws if a target fails.
 */
async function planAtHalf(
  run: string,
  options: BenchOptions,
  means: Pick<Job, 'session' | 'isNamed' | 'voice'>,
): Promise<Plan | undefined> {
  const plan = planFrom(`${run}-probe`, probing(options), undefined);
  const { source, folder, interrupted } = await measure({ ...means, plan, stored: undefined });
  if (interrupted) return undefined;
  const goodputs = source.trials.map((trial) => {
    if (trial.status !== 'failed') return { trial, goodput: trial.measured.load.goodputPerSecond };
    throw new BenchError(
      'trial',
      `${trial.target.id} failed, so the rate cannot be derived from its goodput: ${trial.reasons[0]?.text ?? ''}`,
      'give a rate, e.g. --rate 1000',
    );
  });
  const slowest = goodputs.toSorted((a, b) => a.goodput - b.goodput)[0];
  const perSecond = Math.max(1, Math.floor((slowest?.goodput ?? 0) / 2));
  means.voice.log(
    `rate: ${perSecond}/s, half of the goodput of ${slowest?.trial.target.id} at ${countOf(slowest?.trial.connections ?? 0, 'connection')} (${shown(folder)})`,
  );
  return planFrom(run, { ...options, load: { mode: 'open', perSecond } }, undefined);
}

import { unlikeResumed } from '../analyse/unlike.ts';
import { BenchError } from '../errors.ts';
import { readFacts } from '../machine/facts.ts';
import { chooseLauncher, type Launcher } from '../measure/launcher.ts';
import { findEngines, type FoundEngine } from '../load/engines.ts';
import type { PinnedCommands } from '../machine/placement.ts';
import { preflight } from '../machine/preflight.ts';
import { digestOf } from '../prepare/digest.ts';
import { groupMissing, type Launchable } from '../prepare/prepare.ts';
import { tryCgroup } from '../machine/cgroup.ts';
import { run } from '../measure/run.ts';
import { coresOf, enginesOf, estimateSeconds } from '../plan/plan.ts';
import type { Plan } from '../plan/definition.ts';
import { showProgress } from '../report/progress.ts';
import type { Source } from '../report/view.ts';
import { readHost } from '../machine/host.ts';
import type { Host } from '../results/host.ts';
import { appendTrials, createRun, mendRun, versionDifferences, type StoredRun } from '../results/store.ts';
import { RUN_SCHEMA } from '../versions.ts';
import type { LeftOut, Versions } from '../results/run-file.ts';
import { findCompanions, startCompanions } from '../services/index.ts';
import type { Companion } from '../services/companion.ts';
import { createEffects } from './effects.ts';
import type { Session } from './session.ts';
import { tryTargets } from './tryout.ts';
import type { Voice } from './voice.ts';
import { describeOtherPackages } from '../prepare/projects/packages.ts';

/** A run to start or to resume. */
export interface Job {
  plan: Plan;
  /** Closed early if a Ctrl-C ends the process immediately. */
  session: Session;
  stored: StoredRun | undefined;
  /** True if the user named the targets: a missing one is then an error. */
  isNamed: boolean;
  voice: Voice;
}

/** A run that was measured and stored. */
export interface MeasuredRun {
  source: Source;
  folder: string;
  interrupted: boolean;
}

/**
 * Prepares, measures and stores the trials of a plan. Throws a usage or toolchain error before anything is
 * measured.
 */
export async function measurePlan({ plan, session, stored, isNamed, voice }: Job): Promise<MeasuredRun> {
  using preparing = voice.onInterrupt(
    () => voice.quit(() => session[Symbol.dispose]()),
    stored === undefined ? 'stopping: nothing has been measured yet' : undefined,
  );
  const { token } = session;
  const owe = (server: string | undefined): void => session.owe(server);
  const companions = await findCompanions(plan);
  const launcher = await chooseLauncher(plan);
  const placed = await prepareMachine(plan, { session, launcher, log: voice.log }, companions);
  const host = await readHost();
  if (stored !== undefined) refuseOtherHost(stored, host, placed);
  const { prepared, leftOut } = await prepareTargets(plan, launcher, { isNamed, log: voice.log });
  const isOfUser = prepared.some((one) => 'stack' in one && one.stack.project !== undefined);
  if (isOfUser && stored === undefined) {
    const trial = session.makeFolder('try');
    await using running = await startCompanions(companions, { token, folder: trial, placed, owe });
    await tryTargets(plan, prepared, { placed, token, folder: trial, companions: running.all, voice });
  }
  const engines = await findEngines(enginesOf(plan));
  const versions = readVersions(prepared, companions, engines);
  if (stored !== undefined) refuseOtherVersions(stored, versions);
  const folder = stored?.folder ?? createRun({ schema: RUN_SCHEMA, plan, versions, leftOut }, host);
  if (stored !== undefined) mendRun(folder);
  await using running = await startCompanions(companions, { token, folder, placed, owe });
  let done = stored?.trials.length ?? 0;
  session.expect(estimateSeconds(plan, plan.trials.slice(done)));
  const { effects, stop } = await createEffects({
    plan,
    placed,
    token,
    folder,
    launcher,
    engines,
    companions: running.all,
    record: async (trials) => {
      appendTrials(folder, trials);
      done += trials.length;
      session.expect(estimateSeconds(plan, plan.trials.slice(done)));
    },
    on: showProgress(plan, voice.screen),
  });
  using _ = voice.onInterrupt(stop);
  preparing[Symbol.dispose]();
  const trials = await run(plan, { placed, prepared, before: stored?.trials ?? [] }, effects);
  return { source: { plan, host, leftOut, trials }, folder, interrupted: effects.interrupted() };
}

/** Checks the machine for a plan and places its processes. Throws a usage error if the plan cannot run here. */
export async function prepareMachine(
  plan: Plan,
  { session, launcher, log }: { session: Session; launcher: Launcher; log: Voice['log'] },
  companions: Companion[],
): Promise<PinnedCommands> {
  if (plan.duel && plan.attached === undefined) {
    const { reason } = await tryCgroup();
    if (reason !== undefined) {
      throw new BenchError(
        'usage',
        `a duel reads CPU from a cgroup, which cannot be created: ${reason}`,
        'measure with --separate',
      );
    }
  }
  const beside = companions.filter(({ isPlaced }) => isPlaced).map(({ name }) => name);
  const needs = { serverCores: coresOf(plan), generators: plan.generators, beside };
  const findings = preflight(await readFacts(), {
    ...needs,
    connections: Math.max(...plan.rungs) * (plan.duel ? plan.targets.length : 1),
    connectsPerSecond: plan.connectsPerSecond,
  });
  for (const { level, what, advice } of findings) {
    if (level === 'stop') throw new BenchError('usage', what, advice);
    if (level === 'warn') log(`warning: ${what}${advice === undefined ? '' : ` — ${advice}`}`);
  }
  return session.place(needs, launcher.place);
}

/** Prepares the targets of a plan, and reports those that are missing. Throws if a named one is. */
export async function prepareTargets(
  plan: Plan,
  launcher: Launcher,
  { isNamed, log }: { isNamed: boolean; log: Voice['log'] },
): Promise<{ prepared: Launchable[]; leftOut: LeftOut[] }> {
  const { ready: prepared, missing } = await launcher.prepare(plan, log);
  const [first] = missing;
  if (first !== undefined && (isNamed || prepared.length === 0 || process.env['CI'] !== undefined)) {
    throw new BenchError('toolchain', `${first.target.id}: ${first.reason}`, first.hint);
  }
  for (const line of describeOtherPackages(prepared)) log(`warning: ${line}`);
  const leftOut = missing.map(({ target, reason, hint }) => ({ target: target.id, reason, hint }));
  for (const { targets, reason, hint } of groupMissing(missing))
    log(`${targets.join(', ')} left out: ${reason} (${hint})`);
  return { prepared, leftOut };
}

/**
 * Returns the versions that a resumed run must find unchanged: companions, engines, runtimes, packages of `--with`,
 * and the sources and locks of each target.
 */
export function readVersions(
  prepared: Launchable[],
  companions: Companion[],
  engines: FoundEngine[],
): Versions {
  return Object.fromEntries([
    ['node', process.versions.node],
    ...companions.flatMap(({ name, version }) => (version === undefined ? [] : [[name, version]])),
    ...engines.map(({ name, version }) => [`engine ${name}`, version]),
    ...prepared.map((one) => [one.target.id, describeVersion(one)]),
  ]) as Versions;
}

function describeVersion(one: Launchable): string {
  if ('attached' in one) return one.version;
  const packages = one.packages === undefined ? [] : [`packages ${digestOf([], one.packages.join(' '))}`];
  return [one.runtime?.version ?? 'binary', ...one.installed, ...packages, `sources ${one.digest}`].join(
    ', ',
  );
}

function refuseOtherHost(stored: StoredRun, host: Host, { placement }: PinnedCommands): void {
  const differences = unlikeResumed(stored, { host, placement });
  if (differences.length === 0) return;
  throw new BenchError(
    'usage',
    `run ${stored.plan.run} was measured on another machine, or this machine has changed: ${differences.join('; ')}`,
    'start a new run, or resume this one on its own machine',
  );
}

function refuseOtherVersions(stored: StoredRun, versions: Versions): void {
  const differences = versionDifferences(stored.versions, versions);
  if (differences.length === 0) return;
  throw new BenchError(
    'usage',
    `run ${stored.plan.run} was measured with other versions: ${differences.join('; ')}`,
    'start a new run: one run cannot mix versions',
  );
}

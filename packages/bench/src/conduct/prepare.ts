/** The preparation that all measuring commands share: the machine, the targets and the versions. */
import { connectionsAtOnce, coresOf } from 'bench-model/planned';
import type { Stack } from 'bench-model/stack';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { ToolchainError, UsageError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import { readFacts } from 'bench-machine/facts';
import { tryCgroup } from 'bench-machine/cgroup';
import { readHost } from 'bench-machine/host';
import {
  choosePlacement,
  pinHarness,
  type PinnedCommands,
  type PlacementNeeds,
} from 'bench-machine/placement';
import { preflight } from 'bench-machine/preflight';
import type { FoundEngine } from 'bench-load/engines';
import { attachLauncher } from '../measure/attach.ts';
import { freshLauncher, type Launcher } from '../measure/launcher.ts';
import { placeCopies } from 'bench-targets/prepare/copies/index';
import { digestOf } from 'bench-targets/prepare/digest';
import { describeOtherPackages } from 'bench-targets/prepare/projects/packages';
import { readInterpreter } from 'bench-targets/prepare/interpreters';
import { groupMissing, type Launchable } from 'bench-targets/prepare/prepare';
import type { Interpreter } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import { adviseBuild } from 'bench-report/interpreters';
import type { Host } from 'bench-model/host';
import type { LeftOut, Versions } from 'bench-model/run';
import type { Companion } from '../services/companion.ts';
import { findCompanions } from '../services/index.ts';
import { describeMade } from './made.ts';
import type { Voice } from '../terminal/voice.ts';

/** A run that is ready to be measured on this machine. */
export interface ReadyRun {
  companions: Companion[];
  launcher: Launcher;
  placed: PinnedCommands;
  host: Host;
  prepared: Launchable[];
  leftOut: LeftOut[];
}

interface Preparation {
  /** True if the user named the targets: a missing one is then an error. */
  isNamed: boolean;
  voice: Voice;
  /** Collects the resources to release after the run. */
  kept: DisposableStack;
  /** Throws if the run cannot be measured on this machine; called before targets are prepared. */
  check?: (host: Host, placed: PinnedCommands) => void;
}

/** Prepares this machine and the targets of a plan. Throws a usage or toolchain error if it cannot be measured here. */
export async function prepareRun(
  plan: Plan,
  { isNamed, voice: { log }, kept, check }: Preparation,
): Promise<ReadyRun> {
  const { targets: planned, stacks, apps = [] } = plan;
  const read = plan.attached === undefined ? readStacks(stacks, apps) : [];
  const laid = await placeCopies({ targets: planned, stacks: read, apps, cache: HOME.cache, log });
  const copies = kept.use(laid).stacks;
  const known = [...read, ...copies];
  const companions = await findCompanions({ ...plan, known });
  const launcher = plan.attached === undefined ? freshLauncher : await attachLauncher(plan.attached);
  const placed = await prepareMachine(plan, { launcher, log }, companions);
  const host = await readHost();
  check?.(host, placed);
  // A comparison of copies needs all of them.
  const isRequired = isNamed || copies.length > 0 || process.env['CI'] !== undefined;
  const targets = await prepareTargets(plan, launcher, { isRequired, log, known });
  for (const line of adviseBuild(await readInterpreters(targets.prepared))) log(`hint: ${line}`);
  return { companions, launcher, placed, host, ...targets };
}

/** Checks the machine for a plan and places its processes. Throws a usage error if the plan cannot run here. */
async function prepareMachine(
  plan: Plan,
  { launcher, log }: { launcher: Launcher; log: Voice['log'] },
  companions: Companion[],
): Promise<PinnedCommands> {
  if (plan.byTurns !== undefined && plan.attached === undefined) {
    const { reason } = await tryCgroup();
    if (reason !== undefined) {
      throw new UsageError(
        `servers that take turns need a cgroup each, but none can be created: ${reason}`,
        'measure with --no-interleave',
      );
    }
  }
  const beside = companions.filter(({ isPlaced }) => isPlaced).map(({ name }) => name);
  // The generators of a cluster are elsewhere: here, the harness needs a core.
  const generators = plan.cluster === undefined ? plan.generators : 1;
  const needs = { serverCores: coresOf(plan), generators, beside };
  const findings = preflight(await readFacts(), {
    ...needs,
    connections: connectionsAtOnce(plan),
    addresses: countAddresses(plan),
  });
  for (const { level, what, advice } of findings) {
    if (level === 'stop') throw new UsageError(what, advice);
    if (level === 'warn') log(`warning: ${what}${advice === undefined ? '' : ` — ${advice}`}`);
  }
  return placeProcesses(needs, log, launcher.place);
}

/**
 * Places each side on its cores and pins this process to those of the generators. `choose` makes the placement; by default, that of a
 * server that Bench starts.
 */
export async function placeProcesses(
  needs: PlacementNeeds,
  log: Voice['log'],
  choose = choosePlacement,
): Promise<PinnedCommands> {
  const placed = await choose(needs);
  if (placed.reason !== undefined) log(`placement: ${placed.reason}`);
  await pinHarness(placed);
  return placed;
}

/** Returns the source addresses of the load; each has its own range of ports. */
function countAddresses({ cluster }: Plan): number {
  if (cluster === undefined) return 1;
  return Math.max(cluster.generators, Object.values(cluster.addresses ?? {}).flat().length);
}

/** Prepares the targets of a plan, and reports those that are missing. Throws if a named one is. */
async function prepareTargets(
  plan: Plan,
  launcher: Launcher,
  { isRequired, log, known }: { isRequired: boolean; log: Voice['log']; known: Stack[] },
): Promise<{ prepared: Launchable[]; leftOut: LeftOut[] }> {
  const { ready: prepared, missing } = await launcher.prepare(plan, log, known);
  const [first] = missing;
  if (first !== undefined && (isRequired || prepared.length === 0)) {
    throw new ToolchainError(`${first.target.id}: ${first.reason}`, first.hint);
  }
  for (const one of prepared) {
    if ('attached' in one || (one.stack.project === undefined && one.installed.length === 0)) continue;
    log(`${one.target.id}: ${describeMade(one)}`);
  }
  for (const line of [...describeLiterals(prepared), ...describeOtherPackages(prepared)])
    log(`warning: ${line}`);
  const leftOut = missing.map(({ target, reason, hint }) => ({ target: target.id, reason, hint }));
  for (const { targets, reason, hint } of groupMissing(missing))
    log(`${targets.join(', ')} left out: ${reason} (${hint})`);
  return { prepared, leftOut };
}

async function readInterpreters(prepared: readonly Launchable[]): Promise<Interpreter[]> {
  const programs = prepared.flatMap((one) => ('attached' in one ? [] : (one.interpreter ?? [])));
  const all = await Promise.all([...new Set(programs)].map(readInterpreter));
  return all.filter((one) => one !== undefined);
}

/** Describes the secrets that manifests hold in plain text, with the remedy. */
function describeLiterals(prepared: readonly Launchable[]): string[] {
  const all = prepared.flatMap((one) => ('attached' in one ? [] : (one.stack.literals ?? [])));
  return [...new Set(all)].map(
    (place) =>
      `${place} is a secret in plain text: omit it, and export it before you start Bench. The server inherits your environment`,
  );
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

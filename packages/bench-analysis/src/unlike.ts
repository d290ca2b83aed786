import { coresOf, enginesOf, isWarm, warmupOf, warmupSecondsOf } from 'bench-model/planned';
import { describeBackground } from 'bench-targets/catalogue/background';
import { describeLoad } from 'bench-model/engines';
import type { CompanionHeads, CompanionHost } from 'bench-model/companions';
import type { Placement, Trial } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import type { Host } from 'bench-model/host';
import { listAsked } from 'bench-targets/catalogue/workloads/requests/sent';
import { NOT_KEPT } from 'bench-machine/redact';
import type { StoredRun } from './results/store.ts';

/** The factors in which two runs may be declared to differ on purpose. */
export const FACTORS = [
  'workers',
  'threads',
  'cores',
  'collection',
  'engine',
  'background',
  'upstream',
  'database',
] as const;
export type Factor = (typeof FACTORS)[number];

/** Properties that may differ along with a factor: processes and threads are one choice, and cores imply a placement. */
const BESIDE: Partial<Record<Factor, string[]>> = {
  workers: ['threads'],
  cores: ['placement'],
  engine: ['load driver'],
};

/** Companions that are compared by separate properties; all others are compared by their heads. */
const COMPARED: ReadonlySet<string> = new Set(['background', 'upstream', 'database']);

/** A difference that makes two runs or two machines incomparable. */
export interface Difference {
  /** The property that differs: `window`. */
  what: string;
  /** The property with both values: `window: 3 and 5`. */
  text: string;
}

/**
 * Lists the differences that make two runs incomparable; empty if they are alike. `across` names the one factor that
 * may differ. The momentary load of the hosts does not count.
 */
export function unlikeRuns(old: StoredRun, now: StoredRun, across: Factor | undefined): string[] {
  const meant = across === undefined ? [] : [across, ...(BESIDE[across] ?? [])];
  const found = listDifferences(old, now).filter(({ what }) => !meant.includes(what));
  return [...found.map(({ text }) => text), ...unlikeHosts(old.host, now.host)];
}

/** Lists the differences between the plans of two runs and the ways in which they were measured, without those of the hosts. */
export function listDifferences(old: StoredRun, now: StoredRun): Difference[] {
  const differences: Difference[] = [];
  const compare = (what: string, of: (run: StoredRun) => string | number | undefined): void => {
    const [then, here] = [of(old), of(now)];
    if (then !== here) differences.push({ what, text: `${what}: ${then ?? 'none'} and ${here ?? 'none'}` });
  };
  compare('workload', ({ plan }) => plan.workload);
  compare('parameters', ({ plan }) => describeParams(plan));
  const [then, here] = [old, now].map(({ plan }) => plan.asked && listAsked(plan.asked));
  for (const name of new Set([...(then?.keys() ?? []), ...(here?.keys() ?? [])]))
    compare(name, (run) => (run === old ? then : here)?.get(name));
  compare('connections', ({ plan }) => plan.rungs.join(', '));
  compare('timeout', ({ plan }) => plan.timeoutSeconds);
  compare('window', ({ plan }) => (plan.load.mode === 'amount' ? undefined : plan.windowSeconds));
  compare('warm-up', ({ plan }) => describeWarmup(plan, plan === old.plan ? now.plan : old.plan));
  compare('collection', (run) => describeCollected(run, run === old ? now : old));
  compare('load', ({ plan }) => describeLoad(plan.load));
  compare('workers', ({ plan }) => plan.workers);
  compare('threads', ({ plan }) => plan.threads);
  // If neither run specifies cores, they follow the workers.
  if ((old.plan.cores ?? now.plan.cores) !== undefined) compare('cores', ({ plan }) => coresOf(plan));
  compare('generators', ({ plan }) => plan.generators);
  compare('hosts of the load', describeLoadHosts);
  compare('hosts of the rounds', ({ plan }) => plan.spread?.hosts);
  compare('engine', ({ plan }) => enginesOf(plan).join(' and '));
  const shared = sharedDrivers(old, now);
  compare('load driver', (run) => describeDrivers(run, shared));
  compare('background', ({ plan }) => describeBackground(plan.background));
  compare('kind of trial', ({ plan }) => describeTurns(plan));
  compare('upstream', ({ trials: [first] }) => first?.companions?.upstream?.kind);
  compare('database', ({ trials: [first] }) => describeDatabase(first?.companions?.database));
  const companions = [old, now].flatMap(({ trials: [first] }) => Object.keys(first?.companions ?? {}));
  for (const name of new Set(companions)) {
    compare(`host of the ${name}`, (run) => describeCompanionHost(headOf(run, name)?.host));
    if (!COMPARED.has(name)) compare(name, (run) => describeHead(headOf(run, name)));
  }
  compare('placement', ({ trials: [first] }) => describePlacement(first?.placement));
  return differences;
}

/** `in turns of 100 ms at 10, 100, one at a time at 10000`: the figures of a server depend on it. */
function describeTurns({ byTurns, rungs }: Plan): string {
  if (byTurns === undefined) return 'one server at a time';
  const apart = rungs.filter((rung) => !byTurns.rungs.includes(rung));
  const turns = `in turns of ${1000 * byTurns.turnSeconds} ms`;
  if (apart.length === 0) return turns;
  return `${turns} at ${byTurns.rungs.join(', ')}, one server at a time at ${apart.join(', ')}`;
}

/**
 * Notes on differences between two runs that no record shows: the values of secret headers are never stored, and older
 * runs do not keep the content of an `@file`.
 */
export function describeUnknown(old: StoredRun, now: StoredRun): string[] {
  const before = new Set(listSecrets(old));
  const common = new Set(listSecrets(now).filter((name) => before.has(name)));
  const files = [old, now].flatMap(({ plan: { asked } }) =>
    (asked?.requests ?? [])
      .flatMap(({ body, expect }) => [body ?? '', expect?.body ?? ''])
      .filter((text) => text.startsWith('@') && asked?.files[text] === undefined),
  );
  return [
    ...[...common].map(
      (name) => `unknown: whether both runs sent the same ${name}, because its value is never stored`,
    ),
    ...[...new Set(files)].map(
      (file) =>
        `unknown: whether the file ${file.slice(1)} was the same, because a run did not keep its digest`,
    ),
    ...unknownDrivers(old, now).map(
      (name) => `unknown: whether both runs used the same version of ${name}, because a run did not keep it`,
    ),
  ];
}

/** Returns the versions of the load drivers of a run by their engines. */
function driversOf({ trials }: StoredRun): Map<string, string> {
  return new Map(
    trials.flatMap(({ driver }) => (driver === undefined ? [] : [[driver.name, driver.version]])),
  );
}

/** Lists the engines whose driver version is known in both runs. */
function sharedDrivers(old: StoredRun, now: StoredRun): string[] {
  const here = driversOf(now);
  return [...driversOf(old).keys()].filter((name) => here.has(name));
}

function describeDrivers(run: StoredRun, names: string[]): string | undefined {
  const drivers = driversOf(run);
  return names.map((name) => `${name} ${drivers.get(name)}`).join(', ') || undefined;
}

/** Lists the engines of both runs whose driver version is unknown in at least one of them. */
function unknownDrivers(old: StoredRun, now: StoredRun): string[] {
  const [then, here] = [old, now].map(({ trials }) => new Set(trials.map(({ engine }) => engine)));
  const shared = sharedDrivers(old, now);
  return [...(then ?? [])].filter((name) => here?.has(name) === true && !shared.includes(name));
}

/** The names of the headers whose values a run did not keep. */
function listSecrets({ plan: { asked } }: StoredRun): string[] {
  return (asked?.requests ?? []).flatMap(({ headers }) =>
    Object.entries(headers).flatMap(([name, value]) => (value === NOT_KEPT ? [name] : [])),
  );
}

/** Lists the differences that make the targets of one run incomparable. */
export function unlikeTargets({ plan }: StoredRun, across: Factor | undefined): string[] {
  const engines = enginesOf(plan);
  return engines.length > 1 && across !== 'engine' ? [`engine: ${engines.join(' and ')}`] : [];
}

/** Describes a warm-up, as two runs see it: warm is warm, however long it took. */
function describeWarmup(now: Plan, other: Plan): string {
  const cells = now.targets.flatMap(({ id: target }) =>
    now.rungs.map((connections) => ({ target, connections })),
  );
  const unlike = cells.filter((cell) => {
    const isCommon =
      other.rungs.includes(cell.connections) && other.targets.some(({ id }) => id === cell.target);
    if (!isCommon || warmupSecondsOf(now, cell) === warmupSecondsOf(other, cell)) return false;
    return ![now, other].every((plan) => isWarm(warmupOf(plan, cell)));
  });
  const lengths = unlike.map((cell) => `${warmupSecondsOf(now, cell)} s of ${cell.target}`);
  return [...new Set(lengths)].toSorted().join(', ') || 'alike';
}

function haveCollected(trials: readonly Trial[]): boolean {
  return trials.some((trial) => trial.status !== 'failed' && (trial.measured.age?.collected ?? 0) > 0);
}

/** Returns true if a run measured Node servers as they started: all runs did before Bench had them collect garbage. */
export function startedFresh({ plan, trials }: StoredRun): boolean {
  return plan.targets.some(({ runtime }) => runtime?.kind === 'node') && !haveCollected(trials);
}

/** Names the targets whose servers collected garbage before the load in this run, but not in the other. */
function describeCollected(run: StoredRun, other: StoredRun): string {
  const [own, others] = [run, other].map(({ trials }) => Map.groupBy(trials, ({ target }) => target.id));
  const unlike = [...(own ?? [])].filter(([id, trials]) => {
    const there = others?.get(id);
    return there !== undefined && haveCollected(trials) && !haveCollected(there);
  });
  return unlike.map(([id]) => `before the load of ${id}`).join(', ') || 'none';
}

/** The hosts that sent the load, without their names; undefined if the machine of the server did. */
function describeLoadHosts({ plan: { cluster }, trials }: StoredRun): string | undefined {
  if (cluster === undefined) return undefined;
  const measured = trials.flatMap((trial) =>
    trial.status === 'failed' ? [] : (trial.measured.load.cluster ?? []),
  );
  const kinds = (measured[0]?.hosts ?? []).map(
    ({ cpuModel = 'unknown CPU', cores = 0 }) => `${cpuModel} with ${cores} cores`,
  );
  return [`${cluster.generators} × ${cluster.processes} processes`, ...new Set(kinds.toSorted())].join(', ');
}

function describeParams({ params = {} }: Plan): string | undefined {
  const pairs = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return pairs.join(' ') || undefined;
}

/** The part of a companion in the heads of a run's records. */
type Head = { host?: CompanionHost };

/** Returns the head of a companion in the records of a run. */
function headOf({ trials: [first] }: StoredRun, name: string): Head | undefined {
  const heads: Record<string, object> = first?.companions ?? {};
  return heads[name];
}

/** Returns the head of a companion as text, without its host, which is compared by its hardware. */
function describeHead(head: Head | undefined): string | undefined {
  return head && JSON.stringify({ ...head, host: undefined });
}

/** The hardware of the host of a companion; undefined if that is the server's. */
function describeCompanionHost(host: CompanionHost | undefined): string | undefined {
  return host && `${host.cpuModel ?? 'unknown CPU'} with ${host.cores} cores`;
}

function describeDatabase(database: CompanionHeads['database'] | undefined): string | undefined {
  if (database === undefined) return undefined;
  const { kind, version, maxConnections } = database;
  return `${kind} ${version}, ${maxConnections} connections`;
}

function describePlacement(placement: Placement | undefined): string | undefined {
  if (placement === undefined) return undefined;
  return [
    placement.kind,
    placement.server?.length,
    placement.generator?.length,
    ...Object.values(placement.beside ?? {}).map((cores) => cores?.length),
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

/** Lists the reasons why trials cannot be added to a run: another machine, or another placement on it. */
export function unlikeResumed(
  { host, trials: [first] }: StoredRun,
  now: { host: Host; placement: Placement },
): string[] {
  const [then, here] = [first?.placement, now.placement].map(
    (placement) => placement && describeCores(placement),
  );
  return [
    ...unlikeHosts(host, now.host),
    ...(then === undefined || then === here ? [] : [`placement: ${then} and ${here}`]),
  ];
}

/** Describes a placement with its cores. Within one run, different cores are a different placement. */
function describeCores({ kind, beside = {}, ...sides }: Placement): string {
  const cores = Object.entries({ ...sides, ...beside }).map(([side, ids]) => `${side} on ${ids.join(',')}`);
  return [kind, ...cores.toSorted()].join(' ');
}

/** Lists the differences that make the figures of two machines incomparable. */
export function unlikeHosts(a: Host, b: Host): string[] {
  return listHostDifferences(a, b).map(({ text }) => text);
}

/** Lists the differences between two machines that affect figures. */
export function listHostDifferences(a: Host, b: Host): Difference[] {
  const differences: Difference[] = [];
  const compare = (what: string, of: (host: Host) => string | number | undefined): void => {
    const [one, other] = [of(a), of(b)];
    if (one !== other)
      differences.push({ what, text: `${what}: ${one ?? 'unknown'} and ${other ?? 'unknown'}` });
  };
  compare('CPU model', (host) => host.cpuModel);
  compare('cores', (host) => host.cores);
  // The same machine reports a little more or less after a kernel update.
  if (Math.abs(a.memoryBytes - b.memoryBytes) > 0.02 * Math.max(a.memoryBytes, b.memoryBytes)) {
    compare('memory', (host) => `${(host.memoryBytes / 2 ** 30).toFixed(1)} GiB`);
  }
  compare('kernel release', (host) => host.release);
  compare('governor', (host) => host.governor);
  return differences;
}

import { measuredOf } from 'bench-model/trial';
import { coresOf } from 'bench-model/planned';
import { describeLoad } from 'bench-model/engines';
import type { Placement } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import type { Host } from 'bench-model/host';
import { listUserRequests, nameRequest } from 'bench-targets/catalogue/workloads/requests/sent';
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

/**
 * Lists the differences that make two runs incomparable; empty if they are alike. `across` names the one factor that
 * may differ. The momentary load of the hosts does not count.
 */
export function unlikeRuns(old: StoredRun, now: StoredRun, across: Factor | undefined): string[] {
  const meant = across === undefined ? [] : [across, ...(BESIDE[across] ?? [])];
  const found = differencesOf([propertiesOf(old, now), propertiesOf(now, old)], 'none', meant);
  return [...found, ...unlikeHosts(old.host, now.host)];
}

/** A property by its name, and its value; undefined if it is absent or unknown. */
type Property = readonly [what: string, value: string | number | undefined];

/** Lists the properties that differ, each with both values (`window: 3 and 5`), without those that are meant to. */
function differencesOf(both: readonly Property[][], absent: string, meant: readonly string[] = []): string[] {
  const [ours, theirs] = both.map((own) => new Map(own));
  const names = new Set(both.flat().map(([what]) => what));
  return [...names].flatMap((what) => {
    const [a, b] = [ours?.get(what), theirs?.get(what)];
    return a === b || meant.includes(what) ? [] : [`${what}: ${a ?? absent} and ${b ?? absent}`];
  });
}

/** Returns the properties of a run that comparable runs share, as they are seen beside another run. */
function propertiesOf(run: StoredRun, other: StoredRun): Property[] {
  const { plan } = run;
  const { companions = {}, placement } = run.trials[0] ?? {};
  const params = Object.entries(plan.params ?? {}).map(([name, value]) => `${name}=${value}`);
  const drivers = sharedDrivers(run, other).map(([name, version]) => `${name} ${version}`);
  const protocols = run.trials.flatMap((trial) => measuredOf(trial)?.load.tls?.protocol ?? []);
  const database = companions.database;
  return [
    ['workload', plan.workload],
    ['parameters', params.join(' ') || undefined],
    ...(plan.userRequests === undefined ? [] : listUserRequests(plan.userRequests)),
    ['requests', plan.routes && 'one at a time'],
    ['connections', plan.rungs.join(', ')],
    ['timeout', plan.timeoutSeconds],
    ['window', plan.load.mode === 'amount' ? undefined : plan.windowSeconds],
    // Warm is warm, however long it took.
    ['warm-up', plan.autoWarmup === true ? 'until each server is warm' : `${plan.warmupSeconds} s`],
    ['collection', describeCollected(run, other)],
    ['load', describeLoad(plan.load)],
    ['TLS', [...new Set(protocols)].toSorted().join(', ') || undefined],
    ['workers', plan.workers],
    ['threads', plan.threads],
    // If neither run specifies cores, they follow the workers.
    ['cores', (plan.cores ?? other.plan.cores) === undefined ? undefined : coresOf(plan)],
    ['generators', plan.generators],
    ['hosts of the load', describeLoadHosts(run)],
    ['hosts of the rounds', plan.spread?.hosts],
    ['engine', plan.engine],
    ['load driver', drivers.toSorted().join(', ') || undefined],
    ['background', plan.background && nameRequest(plan.background)],
    ['kind of trial', describeTurns(plan)],
    ['upstream', companions.upstream?.kind],
    ['database', database && `${database.kind} ${database.version}, ${database.maxConnections} connections`],
    ...Object.entries(companions).flatMap(([name, head]): Property[] =>
      COMPARED.has(name) ? [] : [[name, JSON.stringify(head)]],
    ),
    [
      'placement',
      placement &&
        [
          placement.kind,
          ...[placement.server, placement.generator, ...Object.values(placement.beside ?? {})].flatMap(
            (cores) => cores?.length ?? [],
          ),
        ].join(' '),
    ],
  ];
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
 * Notes on differences between two runs that no record shows: the values of secret headers are never stored, and an engine
 * may not tell its version.
 */
export function describeUnknown(old: StoredRun, now: StoredRun): string[] {
  const before = listSecrets(old);
  const secrets = [...listSecrets(now)].filter((name) => before.has(name));
  const known = sharedDrivers(old, now).map(([name]) => name);
  const [then, here] = [old, now].map(({ trials }) => new Set<string>(trials.map(({ engine }) => engine)));
  const engines = [...(then ?? [])].filter((name) => here?.has(name) === true && !known.includes(name));
  return [
    ...secrets.map(
      (name) => `unknown: whether both runs sent the same ${name}, because its value is never stored`,
    ),
    ...engines.map(
      (name) => `unknown: whether both runs used the same version of ${name}, because a run did not keep it`,
    ),
  ];
}

/** Returns the versions of the load drivers of a run, by the engines whose version another run knows too. */
function sharedDrivers(run: StoredRun, other: StoredRun): [engine: string, version: string][] {
  const [own, others] = [run, other].map(
    ({ trials }) =>
      new Map(trials.flatMap(({ driver }) => (driver === undefined ? [] : [[driver.name, driver.version]]))),
  );
  return [...(own ?? [])].filter(([name]) => others?.has(name));
}

/** The names of the headers whose values a run did not keep. */
function listSecrets({ plan: { userRequests } }: StoredRun): Set<string> {
  const headers = (userRequests?.requests ?? []).flatMap((request) => Object.entries(request.headers));
  return new Set(headers.filter(([, value]) => value === NOT_KEPT).map(([name]) => name));
}

/** Names the targets of both runs whose servers collected garbage before the load in this one. */
function describeCollected({ trials }: StoredRun, other: StoredRun): string {
  const shared = new Set(other.trials.map(({ target }) => target.id));
  const collected = trials.filter((trial) => (measuredOf(trial)?.age?.collected ?? 0) > 0);
  const ids = new Set(collected.map(({ target }) => target.id).filter((id) => shared.has(id)));
  return (
    [...ids]
      .toSorted()
      .map((id) => `before the load of ${id}`)
      .join(', ') || 'none'
  );
}

/** The hosts that sent the load, without their names; undefined if the machine of the server did. */
function describeLoadHosts({ plan: { cluster }, trials }: StoredRun): string | undefined {
  if (cluster === undefined) return undefined;
  const measured = trials.flatMap((trial) => measuredOf(trial)?.load.cluster ?? []);
  const kinds = (measured[0]?.hosts ?? []).map(
    ({ cpuModel = 'unknown CPU', cores = 0 }) => `${cpuModel} with ${cores} cores`,
  );
  return [`${cluster.generators} × ${cluster.processes} processes`, ...new Set(kinds.toSorted())].join(', ');
}

/** Lists the reasons why trials cannot be added to a run: another machine, or another placement on it. */
export function unlikeResumed(
  { host, trials: [first] }: StoredRun,
  now: { host: Host; placement: Placement },
): string[] {
  const [then, here] = [first?.placement, now.placement].map((one) => one && describeCores(one));
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
  // The same machine reports a little more or less after a kernel update.
  const isMemoryAlike =
    Math.abs(a.memoryBytes - b.memoryBytes) <= 0.02 * Math.max(a.memoryBytes, b.memoryBytes);
  const both = [a, b].map(({ cpuModel, cores, memoryBytes, release, governor }): Property[] => [
    ['CPU model', cpuModel],
    ['cores', cores],
    ['memory', isMemoryAlike ? undefined : `${(memoryBytes / 2 ** 30).toFixed(1)} GiB`],
    ['kernel release', release],
    ['governor', governor],
  ]);
  return differencesOf(both, 'unknown');
}

/** The same targets over stored runs: grouped into charts, and within a chart into runs that are alike. */
import { startOf } from 'bench-analysis/runs';
import { summarise, type Row } from 'bench-analysis/summary';
import { listDifferences, listHostDifferences } from 'bench-analysis/unlike';
import type { MetricId } from 'bench-model/metrics';
import type { Host } from 'bench-model/host';
import type { StoredRun } from 'bench-analysis/results/store';
import { versionsOf } from '../changes.ts';
import { formatBytes, nameTarget } from '../format.ts';
import { describeWorkload } from '../plan.ts';
import type { Environment, Version } from './changes.ts';

/** A target at a place, as one run measured it. */
export interface HistoryPoint extends Pick<
  Row,
  'target' | 'connections' | 'rounds' | 'statuses' | 'figures' | 'limits'
> {
  /** The id of the target; `target` names its request too. */
  id: string;
  run: string;
  /** The start of the first trial of the run: ISO 8601, UTC. */
  startedAt: string;
  /** The index of its setting among those of the history, from 0 on. */
  setting: number;
  /** The metrics that a reason invalidates in at least one of its rounds. */
  doubtful: MetricId[];
}

/** One workload on one machine over time. */
export interface History {
  /** The description of the machine. */
  machine: string;
  workload: string;
  /** In the order of time. */
  points: HistoryPoint[];
  /** For each setting, its differences from the first one. Figures of different settings are not comparable. */
  settings: string[][];
  /** The versions of each run, in the order of time. */
  environments: Environment[];
}

/** A run with a start, so that it has a place in time. */
interface StartedRun extends StoredRun {
  startedAt: string;
}

/** Groups runs by machine and workload, and orders them by time. Quick runs and runs without trials are left out. */
export function toHistories(runs: readonly StoredRun[], nameMachine: (host: Host) => string): History[] {
  const started = runs
    .flatMap((run): StartedRun[] => {
      const startedAt = startOf(run);
      return startedAt === undefined || run.plan.quick ? [] : [{ ...run, startedAt }];
    })
    .toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const groups = Map.groupBy(started, ({ host, plan }) =>
    JSON.stringify([nameMachine(host), describeWorkload(plan)]),
  );
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const settings = groupAlike(same);
    return [
      {
        machine: nameMachine(first.host),
        workload: describeWorkload(first.plan),
        points: same.flatMap((run) =>
          toPoints(
            run,
            settings.findIndex((members) => members.includes(run)),
          ),
        ),
        settings: settings.map(([founder = first]) => describeUnlike(first, founder)),
        environments: same.map(readEnvironment),
      },
    ];
  });
}

/** Returns the function that names a machine. Machines with the same description are numbered. */
export function nameMachines(hosts: readonly Host[]): (host: Host) => string {
  const machines: Host[] = [];
  for (const host of hosts) {
    if (!machines.some((one) => isSameMachine(one, host))) machines.push(host);
  }
  const names = machines.map(describeHardware);
  const numbered = names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
  return (host) => numbered[machines.findIndex((one) => isSameMachine(one, host))] ?? describeHardware(host);
}

/** A new kernel is a change of the same machine. */
function isSameMachine(a: Host, b: Host): boolean {
  const isSameKind = a.platform === b.platform && a.arch === b.arch && a.virtualised === b.virtualised;
  return isSameKind && listHostDifferences(a, b).every(({ what }) => what === 'kernel release');
}

function describeHardware({
  virtualised,
  cpuModel,
  cores,
  memoryBytes,
  platform,
  arch,
  governor,
}: Host): string {
  return [
    virtualised ? 'VM' : '',
    cpuModel ?? '',
    `${cores} cores`,
    formatBytes(memoryBytes),
    `${platform} ${arch}`,
    governor === undefined ? '' : `governor ${governor}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Groups runs so that any two of a group are alike. */
function groupAlike(runs: readonly StartedRun[]): StartedRun[][] {
  const groups: StartedRun[][] = [];
  for (const run of runs) {
    const own = groups.find((members) => members.every((member) => describeUnlike(member, run).length === 0));
    if (own === undefined) groups.push([run]);
    else own.push(run);
  }
  return groups;
}

/** Lists the differences that make two runs of one workload incomparable. Runs may differ in connections: each number has its own chart. */
function describeUnlike(old: StoredRun, now: StoredRun): string[] {
  return [...listDifferences(old, now), ...listHostDifferences(old.host, now.host)]
    .filter(({ what }) => what !== 'connections')
    .map(({ text }) => text);
}

function toPoints({ plan: { run }, startedAt, trials }: StartedRun, setting: number): HistoryPoint[] {
  return summarise(trials).map((row): HistoryPoint => {
    const { connections, rounds, statuses, figures, limits, reasons } = row;
    return {
      run,
      startedAt,
      setting,
      id: row.target,
      target: nameTarget(row),
      connections,
      rounds,
      statuses,
      figures,
      limits,
      doubtful: [...new Set(reasons.flatMap(({ reason }) => reason.invalidates))],
    };
  });
}

function readEnvironment(run: StartedRun): Environment {
  const { node = run.host.node.replace(/^v/, ''), ...versions } = Object.fromEntries(versionsOf(run));
  const drivers = new Map(
    run.trials.flatMap(({ driver }) =>
      driver === undefined ? [] : [[`load driver ${driver.name}`, driver.version] as const],
    ),
  );
  const shared = [['kernel', run.host.release], ['Node of Bench', node], ...drivers] as const;
  return {
    run: run.plan.run,
    versions: [
      ...shared.map(([name, value]): Version => ({ name, value })),
      ...Object.entries(versions).map(([name, value]): Version => {
        const target = ownerOf(name, run);
        return { name, value, ...(target !== undefined && { target }) };
      }),
    ],
  };
}

/** Returns the target of a version: `fastapi` for `fastapi framework`. */
function ownerOf(name: string, { plan }: StartedRun): string | undefined {
  const owners = plan.targets.map(({ id }) => id).filter((id) => name === id || name.startsWith(`${id} `));
  return owners.toSorted((a, b) => b.length - a.length)[0];
}

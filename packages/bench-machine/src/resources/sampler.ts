/** Samples the resources of a server under load, and those of the other processes on the machine. */

import type { CompanionName } from 'bench-model/companions';
import type { HostWindow } from 'bench-model/measured';
import type { ProcessUse, Resources } from 'bench-model/figures';
import type { Cgroup } from '../cgroup.ts';
import { present } from 'bench-model/options';
import { EVENTS } from '../counters.ts';
import { mean, sum, sumByKey } from 'bench-statistics/numbers';

export interface SamplerOptions {
  /** The server or the time(1) that started it, with all descendants. Undefined if neither is known. */
  serverPid: number | undefined;
  /** Set if the server runs on another machine: nothing that runs here is part of it. */
  isRemote?: boolean | undefined;
  /** The cgroup that the server was launched into; used only if the server is in it. */
  cgroup?: Cgroup | undefined;
  /** The interval between two readings of memory in a window. */
  memoryIntervalMs?: number;
}

/** One sampled window. `server` is absent if the server ended before the window did. */
export interface Sampled {
  server?: Resources;
  /** The resources of the companions that were sampled with it. */
  beside?: Partial<Record<CompanionName, Resources>>;
  host: HostWindow;
}

/** The sampler of one server: any number of windows, one after the other. Closing it stops an open window. */
export interface Sampler extends Disposable {
  /** The current memory of the server's process tree, in bytes; it becomes the idle figure of later windows. */
  idle(): Promise<number | undefined>;
  /**
   * Opens a window. CPU is read before this returns, memory right after. `ours` are processes whose CPU, descendants
   * included, belongs to this measurement: generators, the other servers that take turns and their companions. The harness
   * and the companions that are sampled with this server always belong to it.
   */
  start(ours: readonly number[]): Promise<void>;
  /** Reads the memory in the open window, in bytes. Absent if that would take long; undefined if it cannot be read. */
  memory?(): number | undefined;
  /** Closes the window. Throws a trial error if none is open. */
  stop(): Promise<Sampled>;
}

/** A companion whose resources are sampled with those of a server. */
export interface SampledCompanion {
  name: CompanionName;
  /** The process that it descends from. */
  pid: number;
  sampler: Pick<Sampler, 'start' | typeof Symbol.dispose> & {
    stop(): Promise<Pick<Sampled, 'server'>>;
  };
}

/** The sampler of a server and its companions. The companions and their descendants belong to the measurement. */
export function sampleTogether(server: Sampler, companions: readonly SampledCompanion[]): Sampler {
  if (companions.length === 0) return server;
  return {
    idle: () => server.idle(),
    memory: () => server.memory?.(),
    async start(ours) {
      await server.start([...ours, ...companions.map(({ pid }) => pid)]);
      for (const { sampler } of companions) await sampler.start([]);
    },
    async stop() {
      const sampled = await server.stop();
      const beside: Sampled['beside'] = {};
      for (const { name, sampler } of companions) {
        const { server: use } = await sampler.stop();
        if (use !== undefined) beside[name] = use;
      }
      return Object.keys(beside).length === 0 ? sampled : { ...sampled, beside };
    },
    [Symbol.dispose]() {
      for (const { sampler } of [{ sampler: server }, ...companions]) sampler[Symbol.dispose]();
    },
  };
}

/** Joins several windows of equal length of one server: sums, means, the largest peak. Undefined for no windows. */
export function joinSampled(all: readonly Sampled[]): Sampled | undefined {
  const [first, second] = all;
  const host = joinHosts(all.map((one) => one.host));
  if (first === undefined || second === undefined) return first && { ...first, host };
  const server = joinAll(all.map((one) => one.server));
  const names = Object.keys(first.beside ?? {}) as CompanionName[];
  const beside = names.map((name) => [name, joinAll(all.map((one) => one.beside?.[name]))] as const);
  const known = beside.filter(([, use]) => use !== undefined);
  return { host, ...present({ server, beside: known.length === 0 ? undefined : Object.fromEntries(known) }) };
}

/** The parts of the CPU of a process over a window: that in the turns, and all that their responses caused. */
export interface CpuShares {
  turns: number;
  answers: number;
}

/** The turns of a server: their length together, and their shares in the CPU of the server and of its companions. */
interface TurnShares {
  seconds: number;
  /** All of it by default. */
  cpu?: CpuShares;
  beside?: Partial<Record<CompanionName, CpuShares>>;
}

/** All CPU is that of the turns. */
const ALL: CpuShares = { turns: 1, answers: 1 };

/** Relates one long window of a server and its companions to its turns in it. The machine is seen over the whole window. */
export function overTurns(
  { server, beside, host }: Sampled,
  { seconds, cpu, beside: besideShares = {} }: TurnShares,
): Sampled {
  if (server === undefined || seconds <= 0) return { host };
  const uses = Object.entries(beside ?? {}) as [CompanionName, Resources][];
  const related = uses.map(([name, use]) => [name, inTurns(use, seconds, besideShares[name])] as const);
  return {
    host,
    server: inTurns(server, seconds, cpu),
    ...(related.length > 0 && { beside: Object.fromEntries(related) }),
  };
}

/** Its cost includes what its responses cause between the turns; the cores that it used under load do not. */
function inTurns(use: Resources, seconds: number, { turns, answers } = ALL): Resources {
  // It rests between its turns, so its memory over time is not that under load.
  const { memoryOverTime: _, busiest, ...rest } = use;
  const [cpuUserUs, cpuSystemUs] = [use.cpuUserUs * answers, use.cpuSystemUs * answers];
  const more = (turns * use.seconds) / seconds;
  const uses = busiest?.map(({ pid, cores, threads }): ProcessUse => ({
    pid,
    cores: cores * more,
    threads: threads.map((one) => one * more),
  }));
  const coresUsed = ((use.cpuUserUs + use.cpuSystemUs) * turns) / 1e6 / seconds;
  return { ...rest, seconds, cpuUserUs, cpuSystemUs, coresUsed, ...(uses && { busiest: uses }) };
}

/** Joins the figures if every window has one. */
function joinAll(all: readonly (Resources | undefined)[]): Resources | undefined {
  return all.every((one) => one !== undefined) ? joinResources(all) : undefined;
}

function joinResources(all: readonly Resources[]): Resources {
  // A server rests between its windows, so its memory over time is not that under load.
  const { memoryOverTime: _, ...last } = all.at(-1) as Resources;
  const seconds = sum(all.map((one) => one.seconds));
  const cpuUserUs = sum(all.map((one) => one.cpuUserUs));
  const cpuSystemUs = sum(all.map((one) => one.cpuSystemUs));
  const turnovers = all.flatMap(({ turnover }) => turnover ?? []);
  const peaks = all.map(({ peakBytes }) => peakBytes).filter((bytes) => bytes !== undefined);
  const switches = all.map(({ contextSwitches }) => contextSwitches).filter((count) => count !== undefined);
  return {
    ...last,
    seconds,
    cpuUserUs,
    cpuSystemUs,
    coresUsed: (cpuUserUs + cpuSystemUs) / 1e6 / seconds,
    ...(peaks.length > 0 && { peakBytes: Math.max(...peaks) }),
    ...(switches.length > 0 && { contextSwitches: sum(switches) }),
    ...(turnovers.length > 0 && { turnover: sumByKey<'began' | 'ended'>(turnovers) }),
    ...joinBusiest(all),
  };
}

/** Means over the windows, weighted by length. The first thread of a process is its busiest in each window. */
function joinBusiest(all: readonly Resources[]): Pick<Resources, 'busiest'> {
  const whole = sum(all.map(({ seconds }) => seconds));
  const parts = all.flatMap(({ busiest, seconds }) =>
    busiest === undefined ? [] : [{ busiest, weight: seconds / whole }],
  );
  if (parts.length < all.length) return {};
  const uses = new Map<number, ProcessUse>();
  for (const { busiest, weight } of parts) {
    for (const { pid, cores, threads } of busiest) {
      const use = uses.get(pid) ?? { pid, cores: 0, threads: [] };
      use.cores += cores * weight;
      for (const [at, one] of threads.entries()) use.threads[at] = (use.threads[at] ?? 0) + one * weight;
      uses.set(pid, use);
    }
  }
  return { busiest: [...uses.values()].toSorted((a, b) => b.cores - a.cores) };
}

/** The figures of the machine that are shares; the others are counts of events. */
const SHARES: (keyof HostWindow)[] = ['otherProcessesCores', 'stealCores', 'harnessCores'];

/** Joins the figures of the machine: shares are means over the windows, events are sums. A figure that one window lacks is absent. */
function joinHosts(hosts: readonly HostWindow[]): HostWindow {
  const joined: HostWindow = {};
  for (const name of [...SHARES, ...EVENTS]) {
    const values = hosts.map((host) => host[name]).filter((value) => value !== undefined);
    if (values.length < hosts.length) continue;
    joined[name] = SHARES.includes(name) ? mean(values) : sum(values);
  }
  // Negative values come from coarse readings. Over several windows they cancel out.
  if (joined.otherProcessesCores !== undefined)
    joined.otherProcessesCores = Math.max(0, joined.otherProcessesCores);
  return joined;
}

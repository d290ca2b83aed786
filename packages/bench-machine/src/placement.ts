/** Placement: which cores the server, the generators and the harness may use, so that they do not compete. */

import type { CompanionName } from 'bench-model/companions';
import type { Placement } from 'bench-model/record';
import { familyOf, readNames, readText } from './procfs.ts';
import { run, tryRun } from './subprocess.ts';

export interface Core {
  id: number;
  /** The logical cores of the same physical core, including itself. */
  siblings: number[];
  /** The relative maximum speed, in the same unit for all cores; absent if the machine does not report it. */
  speed?: number;
}

/** The processes to place: cores of one server, number of generators, and companions. */
export interface PlacementNeeds {
  serverCores: number;
  generators: number;
  /** The companions with processes on this machine; together they get one core if one is left. */
  beside?: readonly CompanionName[];
}

/** The command prefixes that pin each side to its cores; empty if nothing is pinned. */
export interface PinnedCommands {
  placement: Placement;
  server: string[];
  /** One prefix for all generators: the scheduler spreads them over their cores. */
  generator: string[];
  /** One prefix for all companions; absent if there are none. */
  beside?: string[];
  /** The cores of the server in the order in which a smaller server would use them; absent if nothing is pinned. */
  serverOrder?: number[];
  /** The reason why the placement is not ideal; absent if it is. */
  reason?: string;
}

/**
 * Chooses the placement from the cores alone. The server gets the last fast cores, as whole physical cores as long
 * as another one is left. The generators get the rest, if possible without siblings of the server. Companions get
 * the last core that the generators can spare.
 */
export function placeOn(
  cores: readonly Core[],
  { serverCores, generators, beside = [] }: PlacementNeeds,
): PinnedCommands {
  const isBeside = beside.length > 0;
  const onCores = (own: number[]): Pick<Placement, 'beside'> =>
    isBeside ? { beside: Object.fromEntries(beside.map((name) => [name, own])) } : {};
  const ids = cores.map(({ id }) => id).toSorted(byNumber);
  const physical = [...Map.groupBy(bestFirst(cores), ({ siblings }) => Math.min(...siblings)).values()];
  if (cores.length < serverCores + 1) {
    return {
      placement: { kind: 'shared', server: ids, generator: ids, ...onCores(ids) },
      server: [],
      generator: [],
      ...(isBeside && { beside: [] }),
      serverOrder: spreadFirst(physical),
      reason: `${count(cores.length, 'core')} for a server on ${serverCores} and its load: both share them`,
    };
  }
  const spread = physical.slice(0, serverCores).flatMap(([thread]) => thread ?? []);
  const packed = physical.flat().slice(0, serverCores);
  const server = spread.length === serverCores && physical.length > serverCores ? spread : packed;
  const taken = new Set(server);
  const twins = new Set(server.flatMap(({ siblings }) => siblings));
  const rest = cores.filter((core) => !taken.has(core));
  const apart = rest.filter(({ id }) => !twins.has(id));
  const load = idsOf(apart.length > 0 ? apart : rest);
  const spare = isBeside && load.length > generators ? load.slice(-1) : [];
  const generator = load.filter((id) => !spare.includes(id));
  const besideIds = spare.length > 0 ? spare : generator;
  const placement: Placement = {
    kind: 'separate',
    server: idsOf(server),
    generator,
    ...onCores(besideIds),
  };
  const sharing = beside.length === 1 && beside[0] !== 'services' ? 'shares' : 'share';
  const reasons = [
    apart.length === 0 && 'the load runs on sibling threads of the server',
    generator.length < generators &&
      `${count(generators, 'generator')} share ${count(generator.length, 'core')}`,
    isBeside && spare.length === 0 && `the ${beside.join(' and the ')} ${sharing} the generators' cores`,
  ].filter((reason) => reason !== false);
  return {
    placement,
    server: tasksetOn(idsOf(server)),
    generator: tasksetOn(generator),
    ...(isBeside && { beside: tasksetOn(besideIds) }),
    serverOrder: spreadFirst(physical).filter((id) => placement.server?.includes(id)),
    ...(reasons.length > 0 && { reason: reasons.join('; ') }),
  };
}

/**
 * Returns the placement of a server on fewer cores than those that were chosen. The load keeps its cores, so that servers of
 * different sizes differ in nothing else.
 */
export function narrowServer(placed: PinnedCommands, serverCores: number): PinnedCommands {
  const { serverOrder, placement } = placed;
  if (serverOrder === undefined || serverCores >= serverOrder.length) return placed;
  const server = serverOrder.slice(0, serverCores).toSorted(byNumber);
  return { ...placed, placement: { ...placement, server }, server: tasksetOn(server) };
}

/** Lists cores in an order that uses one thread of each physical core before the second one. */
function spreadFirst(physical: readonly (readonly Core[])[]): number[] {
  const firsts = physical.flatMap(([thread]) => thread ?? []);
  return [...firsts, ...physical.flatMap(([, ...others]) => others)].map(({ id }) => id);
}

/**
 * Chooses the placement of the load beside a server that is already running. `allowed` are the cores that the
 * server may use; undefined if unknown. The generators get cores that it cannot use, if there are any.
 */
export function placeBeside(
  cores: readonly Core[],
  allowed: readonly number[] | undefined,
  needs: PlacementNeeds,
): PinnedCommands {
  const { placement, generator } = placeOn(cores, needs);
  const load = placement.generator ?? [];
  if (allowed === undefined)
    return { placement: { kind: 'unpinned', generator: load }, server: [], generator };
  const rest = idsOf(cores.filter(({ id }) => !allowed.includes(id)));
  const server = allowed.toSorted(byNumber);
  if (rest.length > 0) {
    const separate: Placement = { kind: 'separate', server, generator: rest };
    return { placement: separate, server: [], generator: tasksetOn(rest) };
  }
  return {
    placement: { kind: 'shared', server, generator: load },
    server: [],
    generator,
    reason: `the server is not pinned: it may run on the generator’s core. To prevent that, start it with taskset -c ${placement.server?.join(',')}`,
  };
}

/** Chooses the placement for this machine and the cores that this process may use: `unpinned`, with the reason, without taskset. */
export async function choosePlacement(needs: PlacementNeeds): Promise<PinnedCommands> {
  const reason = await whyNotPinned();
  if (reason === undefined) return placeOn(usableCores(), needs);
  return {
    placement: { kind: 'unpinned' },
    server: [],
    generator: [],
    ...(needs.beside?.length && { beside: [] }),
    reason,
  };
}

/** Pins this process with all its threads to the generators' cores. Child processes inherit that until they are pinned elsewhere. */
export async function pinHarness({ placement }: PinnedCommands): Promise<void> {
  if (placement.generator !== undefined) await pin(process.pid, placement.generator.join(','));
}

/** Pins all threads of a process to a list of cores. */
async function pin(pid: number, list: string): Promise<void> {
  await run(['taskset', '--all-tasks', '--cpu-list', '--pid', list, String(pid)]);
}

/**
 * Lets a running server use every core that this run uses, until the returned function pins all its threads again. Undefined if
 * it was not pinned by Bench, or has pinned some of its threads itself.
 */
export async function widenServer(
  pid: number,
  { placement, server }: PinnedCommands,
): Promise<(() => Promise<void>) | undefined> {
  const own = placement.server?.join(',');
  const load = placement.generator ?? [];
  if (own === undefined || server.length === 0 || load.length === 0) return undefined;
  const all = [...new Set([...(placement.server ?? []), ...load])].toSorted(byNumber).join(',');
  const widened = [...familyOf([pid])].filter((one) => arePinned(one, own));
  if (widened.length === 0) return undefined;
  await pinAll(widened, all);
  // Those that they have started meanwhile may use as many cores.
  return () => {
    const wide = [...familyOf([pid, ...widened])].filter((one) => readAllowedCores(one)?.join(',') === all);
    return pinAll(wide, own);
  };
}

/** How often threads are pinned that were started while others were. */
const PIN_ATTEMPTS = 3;

/** Pins all threads of processes. One that has ended needs no cores. */
async function pinAll(pids: readonly number[], list: string): Promise<void> {
  for (const pid of pids) {
    for (let attempt = 0; attempt < PIN_ATTEMPTS && !arePinned(pid, list); attempt++)
      await pin(pid, list).catch(() => {});
  }
}

function arePinned(pid: number, list: string): boolean {
  const threads = readNames(`/proc/${pid}/task`);
  return threads.every((thread) => readAllowedCores(`${pid}/task/${thread}`)?.join(',') === list);
}

/** Returns the logical cores that a process (`pid`, `self`) or a thread (`pid/task/id`) may use; undefined if they are unknown. */
export function readAllowedCores(pid: number | string): number[] | undefined {
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1];
  return allowed === undefined ? undefined : parseCpuList(allowed);
}

/** Returns the logical cores that this process may use; empty if `/proc` and `/sys` do not tell. */
export function readCores(): Core[] {
  return (readAllowedCores('self') ?? []).map((id) => {
    const folder = `/sys/devices/system/cpu/cpu${id}`;
    const siblings = parseCpuList(readText(`${folder}/topology/thread_siblings_list`) ?? '');
    const speed = readText(`${folder}/cpu_capacity`) ?? readText(`${folder}/cpufreq/cpuinfo_max_freq`);
    return {
      id,
      siblings: siblings.length === 0 ? [id] : siblings,
      ...(speed !== undefined && { speed: Number(speed) }),
    };
  });
}

let usable: Core[] | undefined;

/** Returns the cores that this process could use before `pinHarness` narrowed them: a command can measure several runs. */
export function usableCores(): Core[] {
  return (usable ??= readCores());
}

/** Parses a list such as `0-3,8,10-11`. */
export function parseCpuList(list: string): number[] {
  return list
    .trim()
    .split(',')
    .filter(Boolean)
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}

let asking: Promise<string | undefined> | undefined;

/** Returns why processes cannot be pinned on this machine; undefined if they can. */
export async function whyNotPinned(): Promise<string | undefined> {
  if (process.platform === 'darwin') return 'macOS cannot pin processes to cores';
  if (process.platform !== 'linux') return `Bench cannot pin processes on ${process.platform}`;
  asking ??= tryRun(['taskset', '--version']).then((told) =>
    told === undefined ? 'taskset is missing (package util-linux)' : undefined,
  );
  return asking;
}

/** Sorts fast cores before slow ones, which a hybrid CPU numbers last; otherwise the last core first. */
function bestFirst(cores: readonly Core[]): Core[] {
  const fastest = Math.max(...cores.map(({ speed }) => speed ?? 0));
  const isSlow = ({ speed }: Core): number => Number(speed !== undefined && speed < 0.8 * fastest);
  return cores.toSorted((a, b) => isSlow(a) - isSlow(b) || b.id - a.id);
}

function tasksetOn(ids: readonly number[]): string[] {
  return ['taskset', '-c', ids.join(',')];
}

function idsOf(cores: readonly Core[]): number[] {
  return cores.map(({ id }) => id).toSorted(byNumber);
}

function byNumber(a: number, b: number): number {
  return a - b;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

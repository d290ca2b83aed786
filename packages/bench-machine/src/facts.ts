/** The limits and settings of this machine, read once before a run for preflight and for `host.json`. */

import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { whyNotPinned } from './placement.ts';
import { openEveryone } from './everyone.ts';
import { readTrouble } from './counters.ts';
import { readNames, readText } from './procfs.ts';
import { tryRun } from './subprocess.ts';
import { timeCommand } from './time.ts';

/** Files that a process opens besides its connections: libraries, logs, pipes, listening sockets. */
export const SPARE_FILES = 200;

/** The facts that preflight judges; each absent if this platform does not report it. */
export interface MachineFacts {
  platform: NodeJS.Platform;
  cores: number;
  /** The reason why processes cannot be pinned to cores; absent if they can. */
  unpinned?: string;
  /** True if `/usr/bin/time` works. */
  time: boolean;
  openFiles?: { soft: number; hard: number };
  ephemeralPorts?: { first: number; last: number };
  /** The time for which a socket stays in TIME_WAIT. */
  timeWaitSeconds?: number;
  /** True if a new connection over loopback may reuse the port of one in TIME_WAIT after a second. */
  timeWaitReused?: boolean;
  /** The longest accept queue that a server can request. */
  somaxconn?: number;
  /** The mean number of runnable tasks in the last minute. */
  load?: number;
  /** The CPU that other processes used while Bench was idle, in cores. */
  otherProcessesCores?: number;
  governor?: string;
  onBattery?: boolean;
  /** The number of times that the CPU was throttled during the check. */
  throttled?: number;
}

/** Reads the facts of this machine. Observes the CPU of other processes meanwhile, for 1 s or `BENCH_OBSERVE_MS`. */
export async function readFacts(): Promise<MachineFacts> {
  const observeMs = Number(process.env['BENCH_OBSERVE_MS'] ?? 1000);
  const { throttled: before } = readTrouble();
  const otherProcessesCores = await observeOtherProcesses(sleep(observeMs));
  const { throttled: after } = readTrouble();
  return {
    platform: process.platform,
    cores: cpus().length,
    time: (await timeCommand()) !== undefined,
    load: loadavg()[0] ?? 0,
    unpinned: await whyNotPinned(),
    openFiles: await readOpenFiles(),
    ephemeralPorts: await readEphemeralPorts(),
    timeWaitSeconds: await readTimeWaitSeconds(),
    timeWaitReused: readTimeWaitReused(),
    somaxconn: await readSomaxconn(),
    governor: readGovernor(),
    onBattery: await readOnBattery(),
    otherProcessesCores,
    throttled: before === undefined || after === undefined ? undefined : after - before,
  };
}

/** Returns the CPU that other processes use during an operation, in cores; undefined if that cannot be measured. */
export async function observeOtherProcesses(until: Promise<unknown>): Promise<number | undefined> {
  const readUs = process.platform === 'linux' ? openEveryone() : undefined;
  if (readUs === undefined) return undefined;
  const own = process.cpuUsage();
  const before = readUs();
  const from = performance.now();
  await until;
  const spent = readUs() - before;
  const { user, system } = process.cpuUsage(own);
  return Math.max(0, (spent - user - system) / ((performance.now() - from) * 1000));
}

/**
 * Returns the number of files that a process may open; Infinity without a limit. Node raises its own soft limit and child
 * processes inherit it, so the hard limit applies to a server that Bench launches.
 */
export async function readOpenFiles(): Promise<{ soft: number; hard: number } | undefined> {
  // Every command asks several times: on Linux, that starts no shell.
  const told = /^Max open files +(\S+) +(\S+)/m.exec(readText('/proc/self/limits') ?? '')?.slice(1);
  const [soft, hard] =
    told ?? ((await tryRun(['/bin/sh', '-c', 'ulimit -Sn; ulimit -Hn'])) ?? '').trim().split('\n');
  // macOS reports no limit, but has one.
  const cap = process.platform === 'darwin' ? await sysctl('kern.maxfilesperproc') : undefined;
  const found = { soft: parseLimit(soft, cap), hard: parseLimit(hard, cap) };
  return Number.isNaN(found.soft + found.hard) ? undefined : found;
}

function parseLimit(text = '', cap = Infinity): number {
  return Math.min(cap, text === 'unlimited' ? Infinity : Number.parseInt(text, 10));
}

/** The memory to leave for each server: most need a tenth of it. */
const BYTES_PER_SERVER = 512 * 2 ** 20;

/** Returns the most servers and connections that this machine holds at the same time. */
export async function readCapacity(): Promise<{ servers: number; connections: number }> {
  const openFiles = await readOpenFiles();
  return {
    servers: Math.floor(process.availableMemory() / BYTES_PER_SERVER),
    connections: openFiles === undefined ? Infinity : openFiles.hard - SPARE_FILES,
  };
}

async function readEphemeralPorts(): Promise<{ first: number; last: number } | undefined> {
  const [first, last] =
    process.platform === 'darwin'
      ? [await sysctl('net.inet.ip.portrange.first'), await sysctl('net.inet.ip.portrange.last')]
      : (readText('/proc/sys/net/ipv4/ip_local_port_range') ?? '').trim().split(/\s+/).map(Number);
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** Returns the longest accept queue that listen(2) grants. */
async function readSomaxconn(): Promise<number | undefined> {
  if (process.platform === 'darwin') return sysctl('kern.ipc.somaxconn');
  const text = readText('/proc/sys/net/core/somaxconn');
  return text === undefined ? undefined : Number(text);
}

/** Returns the frequency governor of the first core; undefined if it is not visible, as in most virtual machines. */
export function readGovernor(): string | undefined {
  return readText('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')?.trim();
}

async function readTimeWaitSeconds(): Promise<number | undefined> {
  // Linux: TCP_TIMEWAIT_LEN, fixed when the kernel is built; macOS: twice the longest life of a segment.
  if (process.platform === 'linux') return 60;
  const lifeMs = await sysctl('net.inet.tcp.msl');
  return lifeMs === undefined ? undefined : (2 * lifeMs) / 1000;
}

/** On Linux, `tcp_tw_reuse` is 1 for all addresses and 2, the default, for loopback. */
function readTimeWaitReused(): boolean | undefined {
  const text = readText('/proc/sys/net/ipv4/tcp_tw_reuse');
  return text === undefined ? undefined : Number(text) > 0;
}

async function readOnBattery(): Promise<boolean | undefined> {
  if (process.platform === 'darwin') {
    const drawn = /drawing from '(.+)'/.exec((await tryRun(['/usr/bin/pmset', '-g', 'batt'])) ?? '')?.[1];
    return drawn === undefined ? undefined : drawn === 'Battery Power';
  }
  const supplies = '/sys/class/power_supply';
  const mains = readNames(supplies).filter(
    (name) =>
      readText(`${supplies}/${name}/type`)?.trim() === 'Mains' && readText(`${supplies}/${name}/online`),
  );
  if (mains.length === 0) return undefined;
  return mains.every((name) => readText(`${supplies}/${name}/online`)?.trim() === '0');
}

/** Reads a number from the sysctl of macOS. */
export async function sysctl(name: string): Promise<number | undefined> {
  const text = await tryRun(['/usr/sbin/sysctl', '-n', name]);
  return text === undefined || text.trim() === '' ? undefined : Number(text);
}

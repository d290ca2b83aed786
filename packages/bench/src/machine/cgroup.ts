/** A cgroup of our own around one server: exact CPU of all its processes and threads, also of those that exited. */

import { accessSync, constants, existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../errors.ts';
import type { CpuReading } from './cpu.ts';
import { readNames, readText } from './procfs.ts';

/** One server's cgroup. */
export interface Cgroup {
  version: 'v1' | 'v2';
  /** The shell that launches the server writes its own process id to each before it becomes the server. */
  procsFiles: string[];
  /** CPU so far; undefined once the cgroup is gone. Resolution 1 µs, the split that of the kernel's ticks on v1. */
  readCpu(): CpuReading | undefined;
  /** The ids of the processes in it now. */
  pids(): number[];
  /** Removes it once it is empty. Kills nothing: resolves with the ids of the processes that still hold it, none when done. */
  remove(): Promise<number[]>;
}

/** A cgroup, or why there is none. */
export type CgroupOrReason = { cgroup: Cgroup; reason?: never } | { cgroup?: never; reason: string };

/** A mounted cgroup hierarchy that can account for CPU, and where this process stands in it. */
export interface Hierarchy {
  version: 'v1' | 'v2';
  mount: string;
  /** The folder of this process's own cgroup; undefined when the mount does not show it. */
  own: string | undefined;
}

/** Finds the hierarchies in the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`: v1 cpuacct first, then v2. */
export function parseHierarchies(mountinfo: string, cgroup: string): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const line of mountinfo.split('\n')) {
    const [head = '', tail = ''] = line.split(' - ');
    const [, , , root = '', mount = ''] = head.split(' ');
    const [type, , options = ''] = tail.split(' ');
    const version = type === 'cgroup2' ? 'v2' : 'v1';
    if (type !== 'cgroup2' && !(type === 'cgroup' && options.split(',').includes('cpuacct'))) continue;
    const path =
      version === 'v2'
        ? /^0::(.*)$/m.exec(cgroup)?.[1]
        : /^\d+:(?:[^:]*,)?cpuacct(?:,[^:]*)?:(.*)$/m.exec(cgroup)?.[1];
    if (path === undefined) continue;
    const below = relative(root, path);
    const own = below.startsWith('..') || path.startsWith('/..') ? undefined : join(mount, below);
    found.push({ version, mount, own });
  }
  return found.toSorted((a, b) => a.version.localeCompare(b.version));
}

/** The hierarchies of this machine. */
export function readHierarchies(): Hierarchy[] {
  return parseHierarchies(readText('/proc/self/mountinfo') ?? '', readText('/proc/self/cgroup') ?? '');
}

/**
 * Makes the cgroup `bench-<token>` below our own, in v1 cpuacct or else in v2, or says why that is not allowed.
 * Throws a usage error on a token that is not made of letters, digits, `-` and `_`.
 */
export function openCgroup(token: string, hierarchies = readHierarchies()): CgroupOrReason {
  if (!/^[\w-]+$/.test(token)) {
    throw new BenchError(
      'usage',
      `cgroup token ${JSON.stringify(token)} is not a plain word`,
      'use [A-Za-z0-9_-]',
    );
  }
  const reasons: string[] = [];
  for (const hierarchy of hierarchies) {
    const made = makeIn(hierarchy, `bench-${token}`);
    if (made.cgroup !== undefined) return made;
    reasons.push(`${hierarchy.version}: ${made.reason}`);
  }
  return { reason: reasons.length === 0 ? 'no cgroup hierarchy is mounted' : reasons.join('; ') };
}

/** Makes a cgroup and removes it again: its version, or why there can be none. */
export async function tryCgroup(): Promise<
  { version: Cgroup['version']; reason?: never } | { version?: never; reason: string }
> {
  const { cgroup, reason } = openCgroup(`probe-${process.pid}`);
  if (cgroup === undefined) return { reason };
  await cgroup.remove();
  return { version: cgroup.version };
}

/**
 * Removes the cgroups that a run of this token has left in these folders, and says whether none is left: one that is
 * still held stays.
 */
export function removeCgroups(token: string, folders: string[]): boolean {
  const left = folders.flatMap((folder) =>
    readNames(folder)
      .filter((name) => name.startsWith(`bench-${token}-`))
      .map((name) => join(folder, name)),
  );
  return left.filter((folder) => !tryRemove(folder)).length === 0;
}

/** Removes the cgroups of probes whose process was killed in between. */
export function removeProbes(isAlive: (pid: number) => boolean, hierarchies = readHierarchies()): void {
  for (const { own } of hierarchies) {
    if (own === undefined) continue;
    for (const name of readNames(own)) {
      const pid = /^bench-probe-(\d+)$/.exec(name)?.[1];
      if (pid !== undefined && !isAlive(Number(pid))) tryRemove(join(own, name));
    }
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    // Held, or not ours to remove.
    return false;
  }
}

function makeIn({ version, own }: Hierarchy, name: string): CgroupOrReason {
  if (own === undefined) return { reason: 'its mount does not show our own cgroup' };
  const folder = join(own, name);
  try {
    // v2 lets a process move only where it may write the file of the common ancestor too.
    if (version === 'v2') accessSync(join(own, 'cgroup.procs'), constants.W_OK);
    mkdirSync(folder);
  } catch (error) {
    return { reason: `cannot be made (${codeOf(error)})` };
  }
  const cgroup = cgroupAt(version, folder);
  if (cgroup.readCpu() !== undefined) return { cgroup };
  rmdirSync(folder);
  return { reason: 'does not account for CPU' };
}

function cgroupAt(version: Cgroup['version'], folder: string): Cgroup {
  const procs = join(folder, 'cgroup.procs');
  const pids = (): number[] => (readText(procs) ?? '').split('\n').filter(Boolean).map(Number);
  return {
    version,
    procsFiles: [procs],
    readCpu: () => (version === 'v1' ? readV1(folder) : parseCpuStat(readText(join(folder, 'cpu.stat')))),
    pids,
    async remove() {
      for (let attempt = 0; existsSync(folder); attempt += 1) {
        try {
          rmdirSync(folder);
          return [];
        } catch (error) {
          const held = pids();
          if (held.length > 0) return held;
          // The kernel lets go of the last process a little after it has left the list.
          if (attempt >= 100) throw error;
          await sleep(10);
        }
      }
      return [];
    },
  };
}

function readV1(folder: string): CpuReading | undefined {
  const us = (file: string): number | undefined => {
    const nanoseconds = readText(join(folder, file));
    return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1000;
  };
  const totalUs = us('cpuacct.usage');
  const userUs = us('cpuacct.usage_user');
  const systemUs = us('cpuacct.usage_sys');
  if (totalUs === undefined || userUs === undefined || systemUs === undefined) return undefined;
  return { totalUs, userUs, systemUs };
}

/** Reads the text of a v2 `cpu.stat`. */
export function parseCpuStat(text: string | undefined): CpuReading | undefined {
  const us = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text ?? '')?.[1]);
  const reading = { totalUs: us('usage_usec'), userUs: us('user_usec'), systemUs: us('system_usec') };
  return Number.isNaN(reading.totalUs + reading.userUs + reading.systemUs) ? undefined : reading;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

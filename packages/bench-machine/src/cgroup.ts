/** A cgroup around one server: exact CPU time of all its processes and threads, including those that have exited. */

import { accessSync, constants, existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import pWaitFor from 'p-wait-for';
import { orUndefined, UsageError } from 'bench-model/errors';
import type { CpuReading } from './cpu.ts';
import { readNames, readText } from './procfs.ts';

/** The longest time that the kernel may take to release the last process of a cgroup. */
const RELEASE_MS = 1000;

/** The cgroup of one server. */
export interface Cgroup {
  version: 'v1' | 'v2';
  /** The shell that launches the server writes its process id to each of these before it becomes the server. */
  procsFiles: string[];
  /** Returns the CPU so far, in steps of 1 µs; undefined once the cgroup is gone. v1 splits it by ticks. */
  readCpu(): CpuReading | undefined;
  /** Returns the ids of the processes in it. */
  pids(): number[];
  /**
   * Removes the cgroup once it is empty, without killing anything. Resolves with the ids of the processes that
   * still hold it; none if it was removed.
   */
  remove(): Promise<number[]>;
}

/** A cgroup, or the reason why there is none. */
type CgroupOrReason = { cgroup: Cgroup; reason?: never } | { cgroup?: never; reason: string };

/** A mounted cgroup hierarchy that accounts for CPU, and the place of this process in it. */
export interface Hierarchy {
  version: 'v1' | 'v2';
  /** The folder of this process's cgroup; undefined if the mount does not show it. */
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
    found.push({ version, own });
  }
  return found.toSorted((a, b) => a.version.localeCompare(b.version));
}

/** Returns the hierarchies of this machine. */
export function readHierarchies(): Hierarchy[] {
  return parseHierarchies(readText('/proc/self/mountinfo') ?? '', readText('/proc/self/cgroup') ?? '');
}

/**
 * Creates the cgroup `bench-<token>` below that of this process, in v1 cpuacct or else in v2, or returns the reason
 * why it cannot. Throws a usage error for a token with other characters than letters, digits, `-` and `_`.
 */
export function openCgroup(token: string, hierarchies = readHierarchies()): CgroupOrReason {
  if (!/^[\w-]+$/.test(token)) {
    throw new UsageError(`cgroup token ${JSON.stringify(token)} is not a plain word`, 'use [A-Za-z0-9_-]');
  }
  const reasons: string[] = [];
  for (const hierarchy of hierarchies) {
    const made = makeIn(hierarchy, `bench-${token}`);
    if (made.cgroup !== undefined) return made;
    reasons.push(`${hierarchy.version}: ${made.reason}`);
  }
  return { reason: reasons.length === 0 ? 'no cgroup hierarchy is mounted' : reasons.join('; ') };
}

/** Creates a cgroup and removes it again. Returns its version, or the reason why none can be created. */
export async function tryCgroup(): Promise<
  { version: Cgroup['version']; reason?: never } | { version?: never; reason: string }
> {
  const { cgroup, reason } = openCgroup(`probe-${process.pid}`);
  if (cgroup === undefined) return { reason };
  await cgroup.remove();
  return { version: cgroup.version };
}

/**
 * Removes the cgroups that a run with this token left in these folders. Returns true if none remains; a cgroup that
 * is still in use remains.
 */
export function removeCgroups(token: string, folders: string[]): boolean {
  const left = folders.flatMap((folder) =>
    readNames(folder)
      .filter((name) => name.startsWith(`bench-${token}-`))
      .map((name) => join(folder, name)),
  );
  return left.filter((folder) => !tryRemove(folder)).length === 0;
}

/** Removes the cgroups of probes that were killed before they could. */
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
  orUndefined(() => rmdirSync(folder));
  // Still in use, or owned by another user.
  return !existsSync(folder);
}

function makeIn({ version, own }: Hierarchy, name: string): CgroupOrReason {
  if (own === undefined) return { reason: 'its mount does not show the cgroup of this process' };
  const folder = join(own, name);
  try {
    // v2 moves a process only if its user may also write to the common ancestor.
    if (version === 'v2') accessSync(join(own, 'cgroup.procs'), constants.W_OK);
    mkdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    return { reason: `cannot be created (${String(code)})` };
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
    remove() {
      let refusal: unknown;
      const attempt = () => {
        try {
          if (existsSync(folder)) rmdirSync(folder);
          return pWaitFor.resolveWith<number[]>([]);
        } catch (error) {
          refusal = error;
          const held = pids();
          // The kernel releases the last process shortly after it has left the list.
          return held.length > 0 && pWaitFor.resolveWith(held);
        }
      };
      const fallback = (): never => {
        throw refusal;
      };
      return pWaitFor(attempt, { interval: 10, timeout: { milliseconds: RELEASE_MS, fallback } });
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

/** Parses the text of a v2 `cpu.stat`. */
export function parseCpuStat(text: string | undefined): CpuReading | undefined {
  const us = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text ?? '')?.[1]);
  const reading = { totalUs: us('usage_usec'), userUs: us('user_usec'), systemUs: us('system_usec') };
  return Number.isNaN(reading.totalUs + reading.userUs + reading.systemUs) ? undefined : reading;
}

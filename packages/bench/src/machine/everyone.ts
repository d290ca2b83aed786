/** The CPU time of every task on the machine, as precisely as this machine can tell it. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseCpuStat, readHierarchies } from './cgroup.ts';
import type { Hierarchy } from './cgroup.ts';
import { readCpuTotals } from './counters.ts';
import type { CpuTotals } from './counters.ts';
import { listPids, readNames, readProcess, readText, US_PER_TICK } from './procfs.ts';
import type { Process } from './procfs.ts';

/** A running sum over all tasks, in µs, without what the kernel's softirq threads did: loopback traffic is our own. */
export interface Everyone {
  /** `cgroup v1 root`, `cgroup v2 top level`, `sum of processes` or `proc stat ticks`. */
  source: string;
  readUs(): number;
}

/** Opens the most precise sum there is; undefined where even `/proc/stat` is missing. */
export function openEveryone(hierarchies = readHierarchies()): Everyone | undefined {
  const v1 = hierarchies.find(({ version }) => version === 'v1');
  const v2 = hierarchies.find(({ version }) => version === 'v2');
  return (v1 && fromV1Root(v1)) ?? (v2 && fromV2TopLevel(v2)) ?? fromProcesses() ?? fromProcStat();
}

export function fromV1Root({ mount }: Hierarchy): Everyone | undefined {
  const usage = join(mount, 'cpuacct.usage');
  // Only the true root has this file: the top of a container's view counts the container alone.
  if (!existsSync(join(mount, 'release_agent')) || readText(usage) === undefined) return undefined;
  const softirq = softirqThreads();
  return {
    source: 'cgroup v1 root',
    readUs: () => Number(readText(usage) ?? 0) / 1000 - sumTasksUs(softirq),
  };
}

export function fromV2TopLevel({ mount }: Hierarchy): Everyone | undefined {
  // The true root has no type. Its own cpu.stat counts ticks, those below it count scheduler time.
  if (existsSync(join(mount, 'cgroup.type'))) return undefined;
  const rootProcesses = (readText(join(mount, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  if (rootProcesses.some((pid) => readProcess(pid)?.kernelThread === false)) return undefined;
  const last = new Map<string, number>();
  let sum = 0;
  return {
    source: 'cgroup v2 top level',
    // Summed step by step, so that a cgroup which is removed keeps what it had.
    readUs() {
      for (const name of readNames(mount)) {
        const us = parseCpuStat(readText(join(mount, name, 'cpu.stat')))?.totalUs;
        if (us === undefined) continue;
        sum += us - (last.get(name) ?? 0);
        last.set(name, us);
      }
      return sum;
    },
  };
}

/**
 * The living processes and the children they waited for, to 10 ms each. A process that exits moves to the line of its
 * parent, in the end that of process 1; only children that a parent refuses to wait for are lost.
 */
export function fromProcesses(): Everyone | undefined {
  // Process 2 is the kernel's own unless this is a container, which does not see its neighbours.
  if (readProcess(2)?.kernelThread !== true) return undefined;
  const softirq = new Set(softirqThreads());
  return {
    source: 'sum of processes',
    readUs: () =>
      sumProcessesUs(
        listPids()
          .filter((pid) => !softirq.has(pid))
          .map(readProcess),
      ),
  };
}

/** The CPU of processes and of the children they waited for, in µs; those that are gone count nothing. */
export function sumProcessesUs(processes: readonly (Process | undefined)[]): number {
  let ticks = 0;
  for (const process of processes) {
    if (process === undefined) continue;
    ticks += process.userTicks + process.systemTicks + process.childUserTicks + process.childSystemTicks;
  }
  return ticks * US_PER_TICK;
}

/**
 * The totals of `/proc/stat`. Here most kernels only note who runs at each tick: a task that sleeps and wakes with the
 * ticks is missed, and the CPU of other processes that follows from it can be wrong by a tenth of a core and more.
 */
export function fromProcStat(): Everyone | undefined {
  if (readCpuTotals() === undefined) return undefined;
  const softirq = softirqThreads();
  return {
    source: 'proc stat ticks',
    readUs() {
      const totals = readCpuTotals();
      return totals === undefined ? 0 : busyUs(totals, sumTasksUs(softirq));
    },
  };
}

/**
 * The CPU time of all tasks but the softirq threads, in µs, from the machine's totals. A kernel that times interrupts
 * keeps them out of the tasks' own figures; one that does not (its `irq` stays 0) charges them to the task that they
 * interrupted, and `softirq` must then count as busy, or our own loopback traffic would hide what others do.
 */
export function busyUs(totals: CpuTotals, softirqThreadsUs: number): number {
  const tasks = totals.userUs + totals.niceUs + totals.systemUs;
  return totals.irqUs > 0 ? tasks : tasks + totals.softirqUs - softirqThreadsUs;
}

function softirqThreads(): number[] {
  return listPids().filter((pid) => {
    const process = readProcess(pid);
    return process?.kernelThread === true && process.command.startsWith('ksoftirqd/');
  });
}

function sumTasksUs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readTaskUs(pid), 0);
}

function readTaskUs(pid: number): number {
  const nanoseconds = readText(`/proc/${pid}/schedstat`)?.split(' ')[0];
  if (nanoseconds !== undefined) return Number(nanoseconds) / 1000;
  const process = readProcess(pid);
  return process === undefined ? 0 : (process.userTicks + process.systemTicks) * US_PER_TICK;
}

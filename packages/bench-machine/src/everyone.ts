/** The CPU time of every task on the machine, as precisely as the machine reports it. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseCpuStat, readHierarchies } from './cgroup.ts';
import type { Hierarchy } from './cgroup.ts';
import { readCpuTotals } from './counters.ts';
import type { CpuTotals } from './counters.ts';
import { listPids, readNames, readProcess, readText, US_PER_TICK } from './procfs.ts';
import type { Process } from './procfs.ts';
import { sum } from 'bench-statistics/numbers';

/**
 * A cumulative reading over all tasks, in µs, without the softirq threads: their loopback traffic belongs to the
 * measurement.
 */
export interface Everyone {
  /** `cgroup v1 root`, `cgroup v2 top level`, `sum of processes` or `proc stat ticks`. */
  source: string;
  readUs(): number;
}

/** Opens the most precise source available; undefined if even `/proc/stat` is missing. */
export function openEveryone(hierarchies = readHierarchies()): Everyone | undefined {
  const v1 = hierarchies.find(({ version }) => version === 'v1');
  const v2 = hierarchies.find(({ version }) => version === 'v2');
  return (v1 && fromV1Root(v1)) ?? (v2 && fromV2TopLevel(v2)) ?? fromProcesses() ?? fromProcStat();
}

export function fromV1Root({ mount }: Hierarchy): Everyone | undefined {
  const usage = join(mount, 'cpuacct.usage');
  // Only the true root has this file; the top level that a container sees covers the container alone.
  if (!existsSync(join(mount, 'release_agent')) || readText(usage) === undefined) return undefined;
  const softirq = softirqThreads();
  return {
    source: 'cgroup v1 root',
    readUs: () => Number(readText(usage) ?? 0) / 1000 - sumTasksUs(softirq),
  };
}

export function fromV2TopLevel({ mount }: Hierarchy): Everyone | undefined {
  // The true root has no type. Its own cpu.stat counts ticks, but those below it count scheduler time.
  if (existsSync(join(mount, 'cgroup.type'))) return undefined;
  const rootProcesses = (readText(join(mount, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  if (rootProcesses.some((pid) => readProcess(pid)?.kernelThread === false)) return undefined;
  const last = new Map<string, number>();
  let total = 0;
  return {
    source: 'cgroup v2 top level',
    // Summed step by step, so that the time of a removed cgroup stays in the total.
    readUs() {
      for (const name of readNames(mount)) {
        const us = parseCpuStat(readText(join(mount, name, 'cpu.stat')))?.totalUs;
        if (us === undefined) continue;
        total += us - (last.get(name) ?? 0);
        last.set(name, us);
      }
      return total;
    },
  };
}

/**
 * Sums the living processes and their waited-for children, to 10 ms each. The time of a process that exits moves to
 * its parent and finally to process 1. Only children that a parent refuses to wait for are lost.
 */
export function fromProcesses(): Everyone | undefined {
  // Process 2 is the kernel's, except in a container, which does not see other containers.
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

/** Returns the CPU time of processes and of their waited-for children, in µs; processes that have exited count 0. */
export function sumProcessesUs(processes: readonly (Process | undefined)[]): number {
  let ticks = 0;
  for (const process of processes) {
    if (process === undefined) continue;
    ticks += process.userTicks + process.systemTicks + process.childUserTicks + process.childSystemTicks;
  }
  return ticks * US_PER_TICK;
}

/**
 * Sums the totals of `/proc/stat`. Most kernels sample here only which task runs at each tick and miss a task that
 * sleeps and wakes with the ticks. The derived CPU of other processes can then be wrong by a tenth of a core and
 * more.
 */
function fromProcStat(): Everyone | undefined {
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
 * Returns the CPU time of all tasks except the softirq threads, in µs, from the totals of the machine. A kernel
 * that times interrupts keeps them out of the time of tasks. One that does not (its `irq` stays 0) charges them to
 * the interrupted task; `softirq` must then count as busy, or the loopback traffic of the measurement would hide
 * the work of other processes.
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
  return sum(pids.map(readTaskUs));
}

function readTaskUs(pid: number): number {
  const nanoseconds = readText(`/proc/${pid}/schedstat`)?.split(' ')[0];
  if (nanoseconds !== undefined) return Number(nanoseconds) / 1000;
  const process = readProcess(pid);
  return process === undefined ? 0 : (process.userTicks + process.systemTicks) * US_PER_TICK;
}

/** The CPU time of every task on the machine, as precisely as the machine reports it. */

import { type CpuTotals, readCpuTotals } from './counters.ts';
import { listPids, type Process, readProcess, readThreadUs, US_PER_TICK } from './procfs.ts';
import { sum } from 'bench-statistics/numbers';

/**
 * Returns the function that reads the CPU time of all tasks so far, in µs, from the most precise source; undefined if even
 * `/proc/stat` is missing. It omits the softirq threads: their loopback traffic belongs to the measurement.
 */
export function openEveryone(): (() => number) | undefined {
  return fromProcesses() ?? fromProcStat();
}

/**
 * Sums the living processes and their waited-for children, to 10 ms each. The time of a process that exits moves to
 * its parent and finally to process 1. Only children that a parent refuses to wait for are lost.
 */
function fromProcesses(): (() => number) | undefined {
  // Process 2 is the kernel's, except in a container, which does not see other containers.
  if (readProcess(2)?.kernelThread !== true) return undefined;
  const softirq = new Set(softirqThreads());
  return () => {
    const others = listPids().filter((pid) => !softirq.has(pid));
    return sumProcessesUs(others.map(readProcess));
  };
}

/** Returns the CPU time of processes and of their waited-for children, in µs; processes that have exited count 0. */
export function sumProcessesUs(processes: readonly (Process | undefined)[]): number {
  const ticks = processes.map((one) =>
    one === undefined ? 0 : one.userTicks + one.systemTicks + one.childUserTicks + one.childSystemTicks,
  );
  return US_PER_TICK * sum(ticks);
}

/**
 * Sums the totals of `/proc/stat`. Most kernels sample here only which task runs at each tick and miss a task that
 * sleeps and wakes with the ticks. The derived CPU of other processes can then be wrong by a tenth of a core and
 * more.
 */
function fromProcStat(): (() => number) | undefined {
  if (readCpuTotals() === undefined) return undefined;
  const softirq = softirqThreads();
  return () => {
    const totals = readCpuTotals();
    return totals === undefined ? 0 : busyUs(totals, sum(softirq.map((pid) => readThreadUs(pid, pid) ?? 0)));
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

/** One for each core, for as long as the machine runs. */
let softirq: number[] | undefined;

function softirqThreads(): number[] {
  return (softirq ??= listPids().filter((pid) => {
    const process = readProcess(pid);
    return process?.kernelThread === true && process.command.startsWith('ksoftirqd/');
  }));
}

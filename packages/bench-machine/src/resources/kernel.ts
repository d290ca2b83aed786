/** What a server takes from the kernel: time there, page faults, context switches. */
import { familyOf, readProcess, readSwitches } from '../procfs.ts';
import { sum } from 'bench-statistics/numbers';

/** The use of a process tree so far, or between two readings. */
export interface KernelUse {
  userTicks: number;
  systemTicks: number;
  /** Page faults. */
  faults: number;
  /** Context switches of a thread that waited. */
  waits: number;
}

/** Reads the use of a process and all its descendants. Threads that have ended take their context switches with them. */
export function readKernelUse(pid: number): KernelUse {
  const all = [...familyOf([pid])].flatMap((one) => readProcess(one) ?? []);
  const total = (field: 'userTicks' | 'systemTicks' | 'faults'): number => sum(all.map((one) => one[field]));
  return {
    userTicks: total('userTicks'),
    systemTicks: total('systemTicks'),
    faults: total('faults'),
    waits: sum(all.flatMap((one) => [...readSwitches(one.pid, 'waits').values()])),
  };
}

/** Returns the use between two readings. */
export function kernelUseBetween(before: KernelUse, after: KernelUse): KernelUse {
  const since = (field: keyof KernelUse): number => Math.max(0, after[field] - before[field]);
  return {
    userTicks: since('userTicks'),
    systemTicks: since('systemTicks'),
    faults: since('faults'),
    waits: since('waits'),
  };
}

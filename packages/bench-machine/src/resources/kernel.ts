/** What a server takes from the kernel: time there, page faults, context switches. */
import { familyOf, readProcess, readSwitches } from '../procfs.ts';
import { sum } from 'bench-statistics/numbers';

/** The use of a process tree so far, or between two readings. */
export interface KernelUse {
  userTicks: number;
  systemTicks: number;
  /** Page faults, and those of them that read from a disk. */
  faults: number;
  diskFaults: number;
  /** Context switches of a thread that waited, and of one that had to leave its core. */
  waits: number;
  preemptions: number;
}

/** Reads the use of a process and all its descendants. Threads that have ended take their context switches with them. */
export function readKernelUse(pid: number): KernelUse {
  const all = [...familyOf([pid])].flatMap((one) => readProcess(one) ?? []);
  const total = (field: 'userTicks' | 'systemTicks' | 'faults' | 'diskFaults'): number =>
    sum(all.map((one) => one[field]));
  const switches = (kind: 'voluntary' | 'nonvoluntary'): number =>
    sum(all.flatMap((one) => [...readSwitches(one.pid, kind).values()]));
  return {
    userTicks: total('userTicks'),
    systemTicks: total('systemTicks'),
    faults: total('faults'),
    diskFaults: total('diskFaults'),
    waits: switches('voluntary'),
    preemptions: switches('nonvoluntary'),
  };
}

/** Returns the use between two readings. */
export function kernelUseBetween(before: KernelUse, after: KernelUse): KernelUse {
  const since = (field: keyof KernelUse): number => Math.max(0, after[field] - before[field]);
  return {
    userTicks: since('userTicks'),
    systemTicks: since('systemTicks'),
    faults: since('faults'),
    diskFaults: since('diskFaults'),
    waits: since('waits'),
    preemptions: since('preemptions'),
  };
}

/** Reads the CPU time of a server between short spans: a full sample of its resources would take longer than a span. */
import type { Cgroup } from '../machine/cgroup.ts';
import { familyOf, readThreadsUs } from '../machine/procfs.ts';
import { sum } from '../numbers.ts';

/** The CPU time of one server so far. */
export interface CpuMeter {
  /** The source of the readings: `cgroup v1`, `schedstat`. */
  source: string;
  /** Returns user and system CPU of the process tree so far, in µs. Throws if the server has ended. */
  readUs(): number;
}

/**
 * Opens the meter of a server. Exact if the server has its own cgroup. Without one, the CPU of threads that
 * have exited is lost. Undefined on a platform without either.
 */
export function openCpuMeter(pid: number | undefined, cgroup: Cgroup | undefined): CpuMeter | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  if (cgroup?.pids().includes(pid)) {
    return { source: `cgroup ${cgroup.version}`, readUs: () => cgroup.readCpu()?.totalUs ?? gone(pid) };
  }
  return {
    source: 'schedstat',
    readUs() {
      const threads = [...familyOf([pid])].flatMap((one) => [...readThreadsUs(one).values()]);
      return threads.length === 0 ? gone(pid) : sum(threads);
    },
  };
}

function gone(pid: number): never {
  throw new Error(`process ${pid} has ended`);
}

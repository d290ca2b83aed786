/** A tree of processes on Linux, followed over time. */

import type { ProcessUse } from '../model.ts';
import type { CpuReading } from '../machine/cpu.ts';
import {
  familyOf,
  readProcess,
  readPssBytes,
  readSwitches,
  readThreadsUs,
  US_PER_TICK,
} from '../machine/procfs.ts';
import type { Process } from '../machine/procfs.ts';

/**
 * The processes that began as some roots and all that they start. Once a member, always a member: a worker that is
 * orphaned stays, and a process id that was given to another process is recognised by its start time.
 */
export class ProcessTree {
  readonly #members = new Map<number, Process>();
  readonly #roots: Map<number, number>;
  /** Ticks of members that vanished after they had been orphaned: nobody in the tree inherited their times. */
  #lostUser = 0;
  #lostSystem = 0;

  constructor(roots: readonly number[]) {
    this.#roots = new Map();
    for (const pid of roots) {
      const process = readProcess(pid);
      if (process === undefined) continue;
      this.#roots.set(pid, process.startTicks);
      this.#members.set(pid, process);
    }
  }

  /** Whether every process that the tree began as still runs; without it, what it had waited for is gone too. */
  get rooted(): boolean {
    return [...this.#roots].every(([pid, startTicks]) => {
      const process = readProcess(pid);
      return process?.startTicks === startTicks && !process.zombie;
    });
  }

  /** The processes alive now, zombies included; `also` are ids known to belong to it from elsewhere. */
  members(also: readonly number[] = []): Process[] {
    const before = new Map(this.#members);
    const same = [...before].filter(([pid, { startTicks }]) => readProcess(pid)?.startTicks === startTicks);
    const family = familyOf([...same.map(([pid]) => pid), ...also]);
    this.#members.clear();
    for (const pid of family) {
      const process = readProcess(pid);
      if (process !== undefined) this.#members.set(pid, process);
    }
    for (const [pid, process] of before) {
      if (this.#members.has(pid) || before.has(process.ppid) || this.#roots.has(pid)) continue;
      this.#lostUser += process.userTicks + process.childUserTicks;
      this.#lostSystem += process.systemTicks + process.childSystemTicks;
    }
    return [...this.#members.values()];
  }

  /**
   * CPU of the living members and of the children they waited for, in µs with a resolution of 10 ms for each process.
   * A child that exits moves from its own line to its parent's, so each µs counts once.
   */
  readCpu(also: readonly number[] = []): CpuReading {
    let user = 0;
    let system = 0;
    for (const process of this.members(also)) {
      user += process.userTicks + process.childUserTicks;
      system += process.systemTicks + process.childSystemTicks;
    }
    const userUs = (user + this.#lostUser) * US_PER_TICK;
    const systemUs = (system + this.#lostSystem) * US_PER_TICK;
    return { totalUs: userUs + systemUs, userUs, systemUs };
  }
}

/** The sum of the proportional set sizes in bytes; undefined when none of them could be read. */
export function sumPssBytes(processes: readonly Process[]): number | undefined {
  const sizes = processes.map(({ pid }) => readPssBytes(pid)).filter((size) => size !== undefined);
  return sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size);
}

/** Context switches so far of every living thread, by thread id. */
export function readAllSwitches(processes: readonly Process[]): Map<number, number> {
  return new Map(processes.flatMap(({ pid }) => [...readSwitches(pid)]));
}

/** Context switches between two readings, of the threads that lived at the second. */
export function switchesBetween(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
): number {
  let count = 0;
  for (const [thread, switches] of after) {
    // A thread id that counts less than before was given to a new thread.
    const from = before.get(thread) ?? 0;
    count += switches >= from ? switches - from : switches;
  }
  return count;
}

/** CPU so far in µs of every living thread: by process id, then by thread id. */
export type ThreadTimes = Map<number, Map<number, number>>;

/** CPU so far of the threads of these processes. */
export function readAllThreads(processes: readonly Process[]): ThreadTimes {
  return new Map(processes.map(({ pid }) => [pid, readThreadsUs(pid)]));
}

const MOST_PROCESSES = 16;
const MOST_THREADS = 4;
/** What uses less of a core says nothing of a limit. */
const LEAST_CORES = 0.01;

/** The busiest processes and threads between two readings, in cores, of those that lived at the second. */
export function busiestBetween(before: ThreadTimes, after: ThreadTimes, seconds: number): ProcessUse[] {
  const uses = [...after].map(([pid, threads]): ProcessUse => {
    const spent = [...threads].map(([thread, us]) => {
      const from = before.get(pid)?.get(thread) ?? 0;
      // A thread id that has spent less than before was given to a new thread.
      return (us >= from ? us - from : us) / 1e6 / seconds;
    });
    const busy = spent.filter((cores) => cores >= LEAST_CORES).toSorted((a, b) => b - a);
    return { pid, cores: spent.reduce((sum, cores) => sum + cores, 0), threads: busy.slice(0, MOST_THREADS) };
  });
  return uses
    .filter(({ cores }) => cores >= LEAST_CORES)
    .toSorted((a, b) => b.cores - a.cores)
    .slice(0, MOST_PROCESSES);
}

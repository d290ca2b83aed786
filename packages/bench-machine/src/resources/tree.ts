/** A tree of processes on Linux, followed over time. */

import type { ProcessUse } from 'bench-model/figures';
import type { CpuReading } from '../cpu.ts';
import { familyOf, type Process, readProcess, readSwitches, readThreadsUs, US_PER_TICK } from '../procfs.ts';
import { sum } from 'bench-statistics/numbers';

/**
 * Some root processes and all their descendants. Members stay members: an orphaned worker is kept, and a reused process
 * id is recognised by its start time.
 */
export class ProcessTree {
  readonly #members = new Map<number, Process>();
  readonly #roots = new Map<number, number>();
  /** Ticks of orphaned members that ended: no process in the tree inherited their times. */
  #lostUser = 0;
  #lostSystem = 0;

  constructor(roots: readonly number[]) {
    for (const pid of roots) {
      const process = readProcess(pid);
      if (process === undefined) continue;
      this.#roots.set(pid, process.startTicks);
      this.#members.set(pid, process);
    }
  }

  /** True if every root still runs. When a root ends, the CPU of the children it waited for is lost. */
  get rooted(): boolean {
    return [...this.#roots].every(([pid, startTicks]) => {
      const process = readProcess(pid);
      return process?.startTicks === startTicks && !process.zombie;
    });
  }

  /** Returns the current processes, zombies included; `also` are further ids that belong to the tree. */
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
   * CPU of the running members and of the children they waited for, in µs with a resolution of 10 ms per process. The
   * time of a child that exits moves to its parent, so each µs counts once.
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

/** Follows which processes of a tree come and go, from one list of the running ones to the next. */
export class Turnover {
  #before: Map<number, number>;
  began = 0;
  ended = 0;

  constructor(processes: readonly Process[]) {
    this.#before = startsOf(processes);
  }

  /** Takes the processes that run now. */
  note(processes: readonly Process[]): void {
    const now = startsOf(processes);
    for (const [pid, startTicks] of now) if (this.#before.get(pid) !== startTicks) this.began++;
    for (const [pid, startTicks] of this.#before) if (now.get(pid) !== startTicks) this.ended++;
    this.#before = now;
  }
}

/** Returns when each process began: its id may be that of an earlier one. */
function startsOf(processes: readonly Process[]): Map<number, number> {
  return new Map(processes.map(({ pid, startTicks }) => [pid, startTicks]));
}

/** The context switches of every running thread so far, by thread id. */
export function readAllSwitches(processes: readonly Process[]): Map<number, number> {
  return new Map(processes.flatMap(({ pid }) => [...readSwitches(pid)]));
}

/** A count of each thread, by thread id. */
type ByThread = ReadonlyMap<number, number>;

/** Context switches between two readings of the threads that ran at the second. */
export function switchesBetween(before: ByThread, after: ByThread): number {
  return sum(spentBetween(before, after));
}

/** Returns the difference of a count for each thread that ran at the second reading. */
function spentBetween(before: ByThread | undefined, after: ByThread): number[] {
  return [...after].map(([thread, count]) => {
    const from = before?.get(thread) ?? 0;
    // If the count of a thread id has fallen, the id belongs to a new thread.
    return count >= from ? count - from : count;
  });
}

/** The CPU of every running thread so far, in µs: by process id, then by thread id. */
export type ThreadTimes = Map<number, Map<number, number>>;

/** Reads the CPU of the threads of these processes so far. */
export function readAllThreads(processes: readonly Process[]): ThreadTimes {
  return new Map(processes.map(({ pid }) => [pid, readThreadsUs(pid)]));
}

const MOST_PROCESSES = 16;
const MOST_THREADS = 4;
/** Processes and threads below this share of a core do not show a limit. */
const LEAST_CORES = 0.01;

/** The busiest processes and threads between two readings, in cores, among those that ran at the second. */
export function busiestBetween(before: ThreadTimes, after: ThreadTimes, seconds: number): ProcessUse[] {
  const uses = [...after].map(([pid, threads]): ProcessUse => {
    const spent = spentBetween(before.get(pid), threads).map((us) => us / 1e6 / seconds);
    const busy = spent.filter((cores) => cores >= LEAST_CORES).toSorted((a, b) => b - a);
    return { pid, cores: sum(spent), threads: busy.slice(0, MOST_THREADS) };
  });
  return uses
    .filter(({ cores }) => cores >= LEAST_CORES)
    .toSorted((a, b) => b.cores - a.cores)
    .slice(0, MOST_PROCESSES);
}

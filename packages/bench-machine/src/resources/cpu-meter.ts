/** Reads the CPU time of a server around short turns: a full sample of its resources would take longer than a turn. */
import type { Cgroup } from '../cgroup.ts';
import { familyOf, readThreadsUs } from '../procfs.ts';
import { sum } from 'bench-statistics/numbers';

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

/** Separates the CPU time of a server in its turns from that in the rests between them. */
export class TurnMeter {
  readonly #meter: CpuMeter;
  #readUs: number;
  #restsUs = 0;
  #turnsUs = 0;

  /** Reads the CPU of the idle server. Throws if it has ended. */
  constructor(meter: CpuMeter) {
    this.#meter = meter;
    this.#readUs = meter.readUs();
  }

  /** The CPU time of all rests so far, in µs. */
  get restsUs(): number {
    return this.#restsUs;
  }

  /** The share of its turns in its CPU; 1 if it used none. */
  get shareOfTurns(): number {
    return this.#turnsUs === 0 ? 1 : this.#turnsUs / (this.#turnsUs + this.#restsUs);
  }

  /** Ends a rest: called right before a turn, and after the last one. Throws if the server has ended. */
  endRest(): void {
    this.#restsUs += this.#takeUs();
  }

  /** Ends a turn and returns its CPU time, in µs. Throws if the server has ended. */
  endTurn(): number {
    const us = this.#takeUs();
    this.#turnsUs += us;
    return us;
  }

  #takeUs(): number {
    const before = this.#readUs;
    this.#readUs = this.#meter.readUs();
    // A thread that exits takes its CPU with it if there is no cgroup.
    return Math.max(0, this.#readUs - before);
  }
}

/** Returns a reading of a meter; undefined once its process has ended. */
export function whileItLives<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function gone(pid: number): never {
  throw new Error(`process ${pid} has ended`);
}

/** Reads the CPU time of a server around short turns: a full sample of its resources would take longer than a turn. */
import type { Cgroup } from '../cgroup.ts';
import { familyOf, readThreadsUs } from '../procfs.ts';
import { sum } from 'bench-statistics/numbers';
import { setTimeout as sleep } from 'node:timers/promises';

/** The CPU time of one server so far. */
export interface CpuMeter {
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
    return { readUs: () => cgroup.readCpu()?.totalUs ?? gone(pid) };
  }
  return {
    readUs() {
      const threads = [...familyOf([pid])].flatMap((one) => [...readThreadsUs(one).values()]);
      return threads.length === 0 ? gone(pid) : sum(threads);
    },
  };
}

/** The time of the machine, as an argument, so that tests need not wait. */
export interface Clock {
  /** Returns the time in ms of a clock that only moves forward. */
  nowMs(): number;
  pause(seconds: number): Promise<void>;
}

export const CLOCK: Clock = {
  nowMs: () => performance.now(),
  pause: (seconds) => sleep(seconds * 1000),
};

/** The CPU time of some spans, and their length together. */
export interface CpuSpans {
  cpuUs: number;
  seconds: number;
}

/** The CPU of a process in stretches of time that follow one another. */
export class Stretches {
  readonly #meter: CpuMeter;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #readUs: number;
  #atMs: number;

  /** Reads the CPU at the begin of the first. Throws if the process has ended. */
  constructor(meter: CpuMeter, clock: Pick<Clock, 'nowMs'> = CLOCK) {
    this.#meter = meter;
    this.#clock = clock;
    this.#readUs = meter.readUs();
    this.#atMs = clock.nowMs();
  }

  /** Ends a stretch, adds it to others of its kind and returns its CPU, in µs. */
  endInto(kind: CpuSpans): number {
    const [us, ms] = [this.#readUs, this.#atMs];
    this.#readUs = this.#meter.readUs();
    this.#atMs = this.#clock.nowMs();
    // A thread that exits takes its CPU with it if there is no cgroup.
    const spent = Math.max(0, this.#readUs - us);
    kind.cpuUs += spent;
    kind.seconds += (this.#atMs - ms) / 1000;
    return spent;
  }
}

/** Separates the CPU time of a server in its turns from that in the rests between them. */
export class TurnMeter extends Stretches {
  /** All turns so far. */
  readonly turns: CpuSpans = { cpuUs: 0, seconds: 0 };
  /** All rests so far. */
  readonly rests: CpuSpans = { cpuUs: 0, seconds: 0 };
  /** What belongs to no figure so far, such as a login. */
  readonly aside: CpuSpans = { cpuUs: 0, seconds: 0 };

  /** Ends a stretch of this kind and returns its CPU time, in µs. A rest ends before each of the others. Throws if the server has ended. */
  end(kind: 'turns' | 'rests' | 'aside'): number {
    return this.endInto(this[kind]);
  }
}

/** Reads the upkeep of a process: the CPU that it uses without load. */
export class UpkeepMeter {
  readonly meter: CpuMeter;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #idle: CpuSpans = { cpuUs: 0, seconds: 0 };
  #open: Stretches | undefined;

  constructor(meter: CpuMeter, clock: Pick<Clock, 'nowMs'> = CLOCK) {
    this.meter = meter;
    this.#clock = clock;
  }

  /** The upkeep in µs per second, over all that was watched; undefined before. */
  get usPerSecond(): number | undefined {
    return this.#idle.seconds > 0 ? this.#idle.cpuUs / this.#idle.seconds : undefined;
  }

  /** Begins to watch the idle process. Throws if it has ended. */
  begin(): void {
    this.#open = new Stretches(this.meter, this.#clock);
  }

  /** Ends what was begun. Throws if the process has ended. */
  end(): void {
    this.#open?.endInto(this.#idle);
    this.#open = undefined;
  }
}

function gone(pid: number): never {
  throw new Error(`process ${pid} has ended`);
}

import type { StartReport } from './protocol.ts';
import { Population } from './population.ts';

/** A start this long after its intended time counts as late. */
const LATE_MS = 1;
const TICK_MS = 1;

/**
 * An open loop: requests are due at a fixed rate, whatever the server does. Without a free connection, a request waits.
 * Its latency counts from its intended time, so that a stall affects every request that it delays (coordinated
 * omission: Tene, "How NOT to Measure Latency").
 */
export class Schedule {
  readonly report: StartReport;
  #due: number[] = [];
  #idle: (() => void)[] = [];
  #next: number;
  #timer: NodeJS.Timeout;
  #counting = false;
  readonly #intervalMs: number;
  readonly #population: Population;

  /** `report` is the report of an earlier schedule to continue; the requests that become due join `population`. */
  constructor(
    perSecond: number,
    report: StartReport = { intended: 0, late: 0, dropped: 0 },
    population = new Population(),
  ) {
    this.report = report;
    this.#population = population;
    this.#intervalMs = 1000 / perSecond;
    this.#next = performance.now();
    this.#timer = setInterval(() => this.#advance(), TICK_MS);
  }

  /** Returns the intended time of the next due request for a free connection. If none is due, calls `ask` later. */
  take(ask: () => void): number | undefined {
    const intended = this.#due.shift();
    if (intended === undefined) {
      this.#idle.push(ask);
      return undefined;
    }
    if (this.#counting && performance.now() - intended > LATE_MS) this.report.late++;
    return intended;
  }

  /** Makes a request whose connection failed due again, with its intended time. */
  giveBack(intended: number): void {
    this.#due.unshift(intended);
  }

  /** Counts from here on. */
  open(): void {
    this.#counting = true;
  }

  /** Stops counting, and starts nothing more. Returns the intended times of the requests that still wait for a connection. */
  close(): number[] {
    this.#counting = false;
    this.report.dropped += this.#due.length;
    clearInterval(this.#timer);
    const waiting = this.#due;
    this.#due = [];
    this.#idle = [];
    return waiting;
  }

  #advance(): void {
    const now = performance.now();
    while (this.#next <= now) {
      this.#due.push(this.#next);
      this.#population.begin(this.#next);
      if (this.#counting) this.report.intended++;
      this.#next += this.#intervalMs;
    }
    while (this.#due.length > 0 && this.#idle.length > 0) this.#idle.shift()?.();
  }
}

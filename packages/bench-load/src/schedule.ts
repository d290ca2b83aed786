import type { Alarm } from './alarm.ts';
import { Population } from './population.ts';
import type { StartReport } from './protocol.ts';
import type { Random } from 'bench-statistics/random';

/** A start this long after its intended time counts as late. */
const LATE_MS = 1;
/** The shortest time between two releases: each of them wakes the loop, which costs CPU. */
const PAUSE_MS = 0.2;
/** The same without a free connection, when requests only become due. */
const CROWDED_MS = 1;

interface Due {
  /** Its intended start, in ms of the monotonic clock. */
  intendedAt: number;
  /** The time for which it has waited although a connection was free, in ms: a delay by this program, not by the server. */
  lateMs: number;
}

/**
 * An open loop: requests are due at a rate, whatever the server does. Without a free connection, a request waits.
 * Its latency counts from its intended time, so that a stall affects every request that it delays (coordinated
 * omission: Tene, "How NOT to Measure Latency").
 */
export class Schedule {
  readonly report: StartReport;
  #due: number[] = [];
  /** The free connections, the one that has been free for longest first. */
  #free: { ask: () => void; sinceMs: number }[] = [];
  /** The time since which the connection that is asked has been free. */
  #askedSinceMs: number | undefined;
  #next: number;
  /** The planned window that counts, in ms of the monotonic clock. */
  #opensAtMs = Infinity;
  #closesAtMs = Infinity;
  #isOver = false;
  readonly #intervalMs: number;
  readonly #gap: () => number;
  readonly #alarm: Pick<Alarm, 'set' | 'clear'>;
  readonly #population: Population;
  readonly #ring = (): void => this.#release();

  /**
   * `report` is the report of an earlier schedule to continue; the requests that become due join `population`. With
   * `random`, they become due as those of independent users do: their gaps are exponential (a
   * Poisson process). Without it, all gaps are the same.
   */
  constructor(
    perSecond: number,
    alarm: Pick<Alarm, 'set' | 'clear'>,
    report: StartReport = { intended: 0, late: 0, dropped: 0 },
    population = new Population(),
    random?: Pick<Random, 'float'>,
  ) {
    this.report = report;
    this.#alarm = alarm;
    this.#population = population;
    this.#intervalMs = 1000 / perSecond;
    this.#gap =
      random === undefined ? () => this.#intervalMs : () => -Math.log(1 - random.float()) * this.#intervalMs;
    this.#next = performance.now();
    this.#rearm();
  }

  /** Returns the next due request for a free connection. If none is due, calls `ask` later. */
  take(ask: () => void): Due | undefined {
    const now = performance.now();
    this.#collect(now);
    const intendedAt = this.#due.shift();
    if (intendedAt === undefined) {
      this.#free.push({ ask, sinceMs: now });
      this.#rearm();
      return undefined;
    }
    if (now >= this.#opensAtMs && now - intendedAt > LATE_MS) this.report.late++;
    const freeSinceMs = this.#askedSinceMs ?? this.#free[0]?.sinceMs ?? now;
    return { intendedAt, lateMs: now - Math.max(intendedAt, freeSinceMs) };
  }

  /** Counts the requests that are due between these times of the monotonic clock, in ms. */
  open(opensAtMs = performance.now(), closesAtMs = Infinity): void {
    this.#opensAtMs = opensAtMs;
    this.#closesAtMs = closesAtMs;
  }

  /** Stops counting, and starts nothing more. Returns the intended times of the requests that still wait for a connection. */
  close(): number[] {
    // What became due while a pause kept this process from noticing was due all the same.
    this.#collect(Math.min(performance.now(), this.#closesAtMs));
    this.#isOver = true;
    this.#alarm.clear(this.#ring);
    const waiting = this.#due.filter((at) => at <= this.#closesAtMs);
    for (const at of this.#due) if (at > this.#closesAtMs) this.#population.end(at);
    this.report.dropped += waiting.length;
    this.#due = [];
    this.#free = [];
    return waiting;
  }

  /** Notes what has become due until now. */
  #collect(now: number): void {
    while (this.#next <= now && !this.#isOver) {
      this.#due.push(this.#next);
      this.#population.begin(this.#next);
      if (this.#next >= this.#opensAtMs && this.#next <= this.#closesAtMs) this.report.intended++;
      this.#next += this.#gap();
    }
  }

  /** Hands what is due to the free connections. */
  #release(): void {
    this.#collect(performance.now());
    while (this.#due.length > 0 && this.#free.length > 0) {
      const { ask, sinceMs } = this.#free.shift()!;
      this.#askedSinceMs = sinceMs;
      ask();
      this.#askedSinceMs = undefined;
    }
    this.#rearm();
  }

  #rearm(): void {
    if (this.#isOver) return;
    const pauseMs = this.#free.length > 0 ? PAUSE_MS : CROWDED_MS;
    this.#alarm.set(this.#ring, this.#next + Math.max(0, pauseMs - this.#intervalMs));
  }
}

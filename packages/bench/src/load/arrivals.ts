import { performance } from 'node:perf_hooks';

/** The clocks of an event loop, in ms where they tell time. */
export interface LoopClocks {
  now(): number;
  /** The events that the loop has handled: it changes with each batch that it takes from the kernel, never within one. */
  events(): number;
  /** How long the loop has waited for events so far. */
  idleMs(): number;
}

/** Those of this thread. */
export const THIS_LOOP: LoopClocks = {
  now: () => performance.now(),
  events: () => performance.nodeTiming.uvMetricsInfo.events,
  idleMs: () => performance.nodeTiming.idleTime,
};

/** Between these two moments an answer arrived, ms of the monotonic clock. */
export interface Arrival {
  /** The batch of its last piece. */
  batch: number;
  from: number;
  by: number;
}

/** One that is not known yet: no answer waits for it. */
export function createArrival(): Arrival {
  return { batch: -1, from: Infinity, by: Infinity };
}

/**
 * While 1,024 events or more are ready, libuv polls again without its check phase, at most so often in one turn
 * (`uv__io_poll`): everything that was ready has been handed out when it polls less often.
 */
const MOST_POLLS = 48;
/** A loop that has waited longer than this was woken by what it hands out. Polling without waiting takes less. */
const WAIT_MS = 1;

/**
 * Tells when answers arrived, although a busy process reads them later. The batch of the kernel that an answer is in
 * gives the moment by which it had arrived; the last poll that left nothing behind gives the moment after which.
 * A loop that waited is woken by the arrival, and the two are one.
 */
export class Arrivals {
  readonly #clocks: LoopClocks;
  #batch = -1;
  #polls = 0;
  #isTurn = false;
  #from = 0;
  #by = 0;
  /** The last poll that left nothing behind. */
  #emptiedAt: number;
  #idleMs = 0;
  /** The end of the last work that is known of. */
  #workedAt: number;
  readonly #endTurn = (): void => {
    this.#isTurn = false;
    if (this.#polls < MOST_POLLS) this.#emptiedAt = this.#by;
    this.#workedAt = this.#clocks.now();
  };

  constructor(clocks: LoopClocks = THIS_LOOP) {
    this.#clocks = clocks;
    this.#emptiedAt = clocks.now();
    this.#workedAt = this.#emptiedAt;
  }

  /** Notes that a piece of an answer is handed out now. */
  note(arrival: Arrival): void {
    const batch = this.#clocks.events();
    if (!this.#isTurn || batch !== this.#batch) this.#beginBatch(batch);
    // A socket is in a batch once: a second piece was read after the first, and may have arrived after the poll.
    arrival.by = arrival.batch === batch ? this.#clocks.now() : this.#by;
    arrival.from = this.#from;
    arrival.batch = batch;
  }

  /** Notes that this process has just done something else than reading: what arrived meanwhile had to wait. */
  work(): void {
    if (!this.#isTurn) this.#workedAt = this.#clocks.now();
  }

  #beginBatch(batch: number): void {
    const now = this.#clocks.now();
    this.#batch = batch;
    this.#by = now;
    if (this.#isTurn) {
      this.#polls++;
      return;
    }
    this.#isTurn = true;
    this.#polls = 1;
    const idleMs = this.#clocks.idleMs();
    const hasWaited = idleMs - this.#idleMs > WAIT_MS && now - this.#workedAt > WAIT_MS;
    this.#idleMs = idleMs;
    // Where it waited nothing was ready before.
    if (hasWaited) this.#emptiedAt = now;
    this.#from = this.#emptiedAt;
    setImmediate(this.#endTurn);
  }
}

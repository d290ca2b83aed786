import { performance } from 'node:perf_hooks';

/** The clocks of an event loop; times are in ms. */
export interface LoopClocks {
  now(): number;
  /** The turns of the loop, and the handled events: their number changes with each batch from the kernel, never within one. */
  counts(): { loopCount: number; events: number };
  /** The time that the loop has waited for events so far. */
  idleMs(): number;
}

const { nodeTiming } = performance;

const THIS_LOOP: LoopClocks = {
  now: () => performance.now(),
  counts: () => nodeTiming.uvMetricsInfo,
  idleMs: () => nodeTiming.idleTime,
};

/** The two moments between which a response arrived, in ms of the monotonic clock. */
export interface Arrival {
  /** The batch of its last piece. */
  batch: number;
  from: number;
  by: number;
}

/** An unknown arrival: no response depends on it. */
export function createArrival(): Arrival {
  return { batch: -1, from: Infinity, by: Infinity };
}

/**
 * The most polls in one turn: while 1,024 events or more are ready, libuv polls again without its check phase
 * (`uv__io_poll`). With fewer polls, all ready events have been handled.
 */
const MOST_POLLS = 48;
/** After a longer wait than this, an event of the batch woke the loop. Polling without waiting takes less. */
const WAIT_MS = 1;

/**
 * Bounds the arrival of responses, although a busy process reads them later. The kernel batch of a response gives the
 * latest moment of its arrival; the last complete poll gives the earliest. If the loop was waiting, the arrival woke it
 * and the two moments are the same.
 */
export class Arrivals {
  readonly #clocks: LoopClocks;
  /** The turn and the batch of the last piece. */
  #turn = -1;
  #batch = -1;
  #polls = 0;
  #from = 0;
  #by: number;
  /** The last complete poll: it left no ready event behind. */
  #emptiedAt: number;
  #idleMs = 0;
  /** The end of the last work outside deliveries. */
  #workedAt: number;

  constructor(clocks: LoopClocks = THIS_LOOP) {
    this.#clocks = clocks;
    this.#by = clocks.now();
    this.#emptiedAt = this.#by;
    this.#workedAt = this.#by;
  }

  /** Records that the loop delivers a piece of a response now. */
  note(arrival: Arrival): void {
    const { loopCount, events } = this.#clocks.counts();
    if (loopCount !== this.#turn || events !== this.#batch) this.#beginBatch(loopCount, events);
    // A socket is in a batch only once: a second piece was read later and may have arrived after the poll.
    arrival.by = arrival.batch === events ? this.#clocks.now() : this.#by;
    arrival.from = this.#from;
    arrival.batch = events;
  }

  /** Records that this process has just worked outside a delivery, such as in a timer: arrivals had to wait meanwhile. */
  work(): void {
    this.#workedAt = this.#clocks.now();
  }

  #beginBatch(turn: number, batch: number): void {
    const now = this.#clocks.now();
    this.#batch = batch;
    if (turn === this.#turn) {
      this.#by = now;
      this.#polls++;
      return;
    }
    if (this.#polls < MOST_POLLS) this.#emptiedAt = this.#by;
    this.#turn = turn;
    this.#by = now;
    this.#polls = 1;
    const idleMs = this.#clocks.idleMs();
    const hasWaited = idleMs - this.#idleMs > WAIT_MS && now - this.#workedAt > WAIT_MS;
    this.#idleMs = idleMs;
    // If it waited, nothing was ready before.
    if (hasWaited) this.#emptiedAt = now;
    this.#from = this.#emptiedAt;
  }
}

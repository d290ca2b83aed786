const TICK_MS = 2;
/** The most connects in one tick: after them, this process handles answers. */
const MOST_PER_TICK = 100;

/**
 * Starts connections as fast as the server takes them, so that its accept queue never overflows: a dropped SYN is
 * retransmitted after 1, 3 and 7 s, and nothing reports it.
 */
export class Pacer implements Disposable {
  retries = 0;
  refused = 0;
  #queue: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #room: () => number;

  /** `room` returns the number of connections that may start now. */
  constructor(room: () => number) {
    this.#room = room;
  }

  /** Runs `connect` when its turn comes. */
  schedule(connect: () => void): void {
    this.#queue.push(connect);
    this.#timer ??= setInterval(() => this.#drain(), TICK_MS);
  }

  /** Starts none of the connections that still wait. */
  [Symbol.dispose](): void {
    this.#queue = [];
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #drain(): void {
    const count = Math.floor(Math.min(this.#queue.length, MOST_PER_TICK, this.#room()));
    for (let started = 0; started < count; started++) this.#queue.shift()?.();
    if (this.#queue.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

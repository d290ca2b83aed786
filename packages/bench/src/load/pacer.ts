const TICK_MS = 10;
/** The most that a late tick may make up for: more would be the burst that pacing is there to prevent. */
const CREDIT_SECONDS = 0.05;

/**
 * Starts connections at a steady pace, so that a server's accept queue is never overrun: a SYN that
 * is dropped there comes back after 1, 3, 7 s and nothing reports it.
 */
export class Pacer {
  retries = 0;
  refused = 0;
  #queue: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #credit = 1;
  #last = performance.now();
  readonly #perSecond: number;
  readonly #isHeld: () => boolean;

  /** `isHeld` says that the server has to catch up first. */
  constructor(perSecond: number, isHeld: () => boolean) {
    this.#perSecond = perSecond;
    this.#isHeld = isHeld;
  }

  /** Runs `connect` when its turn comes. */
  schedule(connect: () => void): void {
    this.#queue.push(connect);
    this.#timer ??= setInterval(() => this.#drain(), TICK_MS);
  }

  #drain(): void {
    const now = performance.now();
    const most = Math.max(1, this.#perSecond * CREDIT_SECONDS);
    this.#credit = Math.min(most, this.#credit + ((now - this.#last) / 1000) * this.#perSecond);
    this.#last = now;
    while (this.#credit >= 1 && this.#queue.length > 0 && !this.#isHeld()) {
      this.#credit--;
      this.#queue.shift()?.();
    }
    if (this.#queue.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

const TICK_MS = 10;
/** The most time that a late tick may make up for: more would be a burst, which pacing prevents. */
const CREDIT_SECONDS = 0.05;

/**
 * Starts connections at a steady pace, so that the accept queue of a server never overflows: a dropped SYN is
 * retransmitted after 1, 3 and 7 s, and nothing reports it.
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

  /** `isHeld` returns true while the server has to catch up. */
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

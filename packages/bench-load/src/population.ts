/**
 * The number of open requests over time, from the moments at which they become due and end. No end is paired with its
 * start, so that it is independent of the latencies.
 */
export class Population {
  /** The time at which the open window closes, in ms: what comes later counts from then on, or a late close would count it. */
  closesAtMs = Infinity;
  #count = 0;
  #sumMs = 0;

  /** Adds a request that is due from this time of the monotonic clock on, in ms. */
  begin(atMs: number): void {
    this.#count++;
    this.#sumMs += Math.min(atMs, this.closesAtMs);
  }

  /** Removes a request from this time on. */
  end(atMs: number): void {
    this.#count--;
    this.#sumMs -= Math.min(atMs, this.closesAtMs);
  }

  /** The time for which all requests so far have been open until then, in ms. */
  until(atMs: number): number {
    return this.#count * atMs - this.#sumMs;
  }
}

import type { MemoryReading } from '../model.ts';

/** A window of any length has no more of them. */
const MOST = 120;

/** Readings of a window, evenly spread: when they become too many, every other goes, and half as many are kept from then on. */
export class Series {
  #readings: MemoryReading[] = [];
  #seen = 0;
  #every = 1;

  add(reading: MemoryReading): void {
    if (this.#seen++ % this.#every !== 0) return;
    this.#readings.push(reading);
    if (this.#readings.length < MOST) return;
    this.#readings = this.#readings.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }

  get readings(): MemoryReading[] {
    return [...this.#readings];
  }
}

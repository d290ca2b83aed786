import type { MemoryReading } from 'bench-model/figures';

/** The most readings of a window, whatever its length. */
const MOST = 120;

/** The readings of a window, evenly spread. If they become too many, every second one is dropped, now and from then on. */
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

/** The memory that an alarm shares with its thread. */
export interface AlarmClock {
  /** The number of changes of the time: the thread waits for the next one. */
  changes: Int32Array<SharedArrayBuffer>;
  /** The time to ring, by `sharedNowMs`; infinite if there is none. */
  ringsAtMs: Float64Array<SharedArrayBuffer>;
}

/** Returns the monotonic time that all threads share, in ms. `performance.now` begins anew in each of them. */
export function sharedNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** Burns exact amounts of this thread's CPU time, and counts them. */
export class Burner {
  /** The cost of reading the clock, in µs: each burn contains one reading that the clock does not show. */
  readonly probeUs: number;
  readonly clock: 'thread' | 'process';
  burns = 0;
  askedUs = 0;
  burnedUs = 0;
  readonly #now: () => number;

  constructor() {
    this.clock = typeof process.threadCpuUsage === 'function' ? 'thread' : 'process';
    this.#now = this.clock === 'thread' ? threadCpuUs : processCpuUs;
    const readings = 2000;
    this.#now();
    const start = this.#now();
    for (let reading = 1; reading < readings; reading++) this.#now();
    this.probeUs = (this.#now() - start) / readings;
  }

  /** Burns `us` µs of CPU time, plus at most one clock reading. */
  burn(us: number): void {
    const start = this.#now();
    let spent = this.probeUs;
    while (spent < us) {
      spin(us - spent - this.probeUs / 2);
      spent = this.#now() - start + this.probeUs;
    }
    this.burns++;
    this.askedUs += us;
    this.burnedUs += spent;
  }
}

/** CPU time of the process so far, user and system, in µs. */
export function processCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** CPU time of this thread so far, in µs. */
export function threadCpuUs(): number {
  // Linux updates the rusage of a thread only at scheduler ticks (4 ms). Reading that of the whole process
  // updates it, so the next call reads it to the µs.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** Spins for this much wall time, in user mode. */
export function spin(us: number): void {
  const until = performance.now() + us / 1000;
  while (performance.now() < until);
}

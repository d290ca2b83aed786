/** Burns CPU time of this thread. */

/** Burns `us` µs of CPU time, and up to one reading of the clock more. */
export function burn(us: number): void {
  const start = threadCpuUs();
  for (let spent = 0; spent < us; spent = threadCpuUs() - start) spin(us - spent);
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

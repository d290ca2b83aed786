/** CPU time as it is read and as it is spent between two readings. */

/** A running sum in µs. The total may be finer than its two parts, which the kernel samples at its ticks. */
export interface CpuReading {
  totalUs: number;
  userUs: number;
  systemUs: number;
}

/** What was spent between two readings, user and system adding up to the finer total. */
export interface CpuSpent {
  userUs: number;
  systemUs: number;
}

/**
 * The CPU time between two readings, in µs: the total is the precise figure, divided as its parts moved.
 * Where neither part moved by a whole tick, all of it counts as user.
 */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuSpent {
  const total = Math.max(0, after.totalUs - before.totalUs);
  const user = Math.max(0, after.userUs - before.userUs);
  const system = Math.max(0, after.systemUs - before.systemUs);
  const systemUs = user + system === 0 ? 0 : (total * system) / (user + system);
  return { userUs: Math.max(0, total - systemUs), systemUs };
}

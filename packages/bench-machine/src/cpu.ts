/** CPU time: cumulative readings, and the time between two of them. */

/** A cumulative reading in µs. The total may be more precise than its parts, which the kernel samples at its ticks. */
export interface CpuReading {
  totalUs: number;
  userUs: number;
  systemUs: number;
}

/** The CPU time between two readings; user and system add up to the precise total. */
interface CpuSpent {
  userUs: number;
  systemUs: number;
}

/**
 * Returns the CPU time between two readings, in µs. The total is precise and is split in proportion to its parts.
 * If neither part advanced by a tick, all of it counts as user time.
 */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuSpent {
  const total = Math.max(0, after.totalUs - before.totalUs);
  const user = Math.max(0, after.userUs - before.userUs);
  const system = Math.max(0, after.systemUs - before.systemUs);
  const systemUs = user + system === 0 ? 0 : (total * system) / (user + system);
  return { userUs: Math.max(0, total - systemUs), systemUs };
}

/** Returns the user and system CPU of this process so far, in µs. */
export function ownCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

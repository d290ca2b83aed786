/**
 * Finds the CPU that answers cause between the turns of a server: deferred work, such as a log that is written later. Pure.
 *
 * A server also uses CPU without any response: its upkeep. It is known from the time in which nothing loads the server. What it uses
 * between its turns above its upkeep is work of its responses.
 */

/** The CPU of some spans in µs, and their length together. */
interface Spans {
  cpuUs: number;
  seconds: number;
}

/** The CPU of one server by turns. */
export interface TurnsCpu {
  turns: Spans;
  /** Between the turns, and after the last one until all deferred work is done. */
  rests: Spans;
  /** What the server did for no answer to the load, such as a login, in µs. */
  asideUs?: number;
  /** µs per second; undefined if the idle server was not watched. */
  upkeepUsPerSecond: number | undefined;
}

/**
 * Returns the CPU that answers caused outside of the turns, in µs. Negative if the upkeep happened to be larger while it was watched
 * than between the turns: only then do such errors cancel out over the rounds. Their cost is at least that in the turns without the
 * upkeep in them.
 */
export function deferredCpu({ turns, rests, upkeepUsPerSecond }: TurnsCpu): number {
  if (upkeepUsPerSecond === undefined) return 0;
  const least = -Math.min(turns.cpuUs, upkeepUsPerSecond * turns.seconds);
  return Math.max(least, rests.cpuUs - upkeepUsPerSecond * rests.seconds);
}

/** Returns the share of deferred work in the CPU of the responses; 0 if there is none. */
export function deferredShare(cpu: TurnsCpu): number {
  const deferredUs = deferredCpu(cpu);
  return deferredUs > 0 ? deferredUs / (cpu.turns.cpuUs + deferredUs) : 0;
}

/** Returns the shares of the turns, and of all that their responses caused, in the CPU of a server; 1 if it used none. */
export function sharesOf(cpu: TurnsCpu): { turns: number; answers: number } {
  const allUs = cpu.turns.cpuUs + cpu.rests.cpuUs + (cpu.asideUs ?? 0);
  if (cpu.turns.cpuUs === 0 || allUs === 0) return { turns: 1, answers: 1 };
  return { turns: cpu.turns.cpuUs / allUs, answers: (cpu.turns.cpuUs + deferredCpu(cpu)) / allUs };
}

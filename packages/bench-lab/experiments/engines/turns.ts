/** The measurements of one server by several engines: one line of `engines.jsonl` each. */

/** One turn of an engine. */
export interface Turn {
  answersPerSecond: number;
  /** CPU of the server per answer, in µs. */
  cpuUs: number;
  /** Interrupts by which another core woke the engine's core, per answer. */
  wakes: number;
  /** The share of the engine's core that was busy. */
  busy: number;
}

/** One server at one number of connections: the turns of each engine, in the order of the rounds. */
export interface Measured {
  target: string;
  connections: number;
  turns: Record<string, Turn[]>;
}

/** The conditions and the measurements of a span: one line of `spans.jsonl` each. */

/** The programs on the core of the load beside the client. */
export const FILLS = ['nothing', 'filler', 'rival'] as const;

/**
 * `nothing`: the core idles while the client waits. `filler`: a program at idle priority, as Bench starts it. `rival`: the same
 * program in a session of full weight, which Linux lets compete with the client.
 */
export type Fill = (typeof FILLS)[number];

/** The server under load, and the load on it. */
export interface Arm {
  target: string;
  /** Requests per second; a closed loop if absent. */
  perSecond?: number;
}

/** The share of time that a core was busy, and the answers of the server meanwhile. */
export interface MeasuredSpan extends Arm {
  round: number;
  fill: Fill;
  seconds: number;
  answers: number;
  /** CPU time of the server per answer, in µs. */
  cpuUs: number;
  /** CPU of the client, in cores. */
  clientCores: number;
  /** CPU of the program that fills the core, in cores. */
  fillCores: number;
}

/** The programs that kept the other core busy beside a pair. */
export const BUSY = ['loop', 'work'] as const;

/** The same work with the other core idle and busy, without a server. */
export interface MeasuredPair {
  round: number;
  busy: (typeof BUSY)[number];
  idleUs: number;
  busyUs: number;
}

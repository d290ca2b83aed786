/** One measured process, as `kinds.json` holds it. */
export interface Measured {
  part: string;
  arm: string;
  /** The place of the arm in its part. */
  order: number;
  target: string;
  /** The version of the runtime. */
  version: string;
  /** CPU per request over that of the reference: the median of pairs, once for each time it was measured. */
  ratios: number[];
  /** CPU time per request at the last time, in µs. */
  cpuUs: number;
  referenceUs: number;
  /** Answers of the warm-up, and the age at the end in seconds. */
  answers: number;
  seconds: number;
  /** The load average of the machine over a minute. */
  load: number;
  /** The states of the object literal in process.nextTick, each time that they were read. */
  shapes?: string[];
  /** Full collections before each of these times. */
  collections?: number[];
}

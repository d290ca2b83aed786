/** The records of packages/bench-lab/experiments/probe. */

/** The parts of the probe, in the order in which they run. */
export const PARTS = ['arithmetic', 'memory', 'interpreter', 'sockets'] as const;
export type Part = (typeof PARTS)[number];

/** CPU per request in µs, answers, and the CPU time of each part of the probe before and after, in µs. */
export type Slice = [cpuUs: number, answers: number, before: number[], after: number[]];

/** One fresh process: a line of `probe.jsonl`. */
export interface ProbedProcess {
  target: string;
  /** The start of the call that measured it. */
  sitting: string;
  startedAt: string;
  /** The load average of the machine. */
  load: number;
  slices: Slice[];
}

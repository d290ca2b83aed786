import type { EngineName } from '../../catalogue/engines.ts';
import type { ToldCounts } from '../../results/record.ts';
import type { LatencySample } from '../../histogram.ts';

/** One run of a tool: what to ask, over how many connections, for how long. */
export interface ToolRun {
  url: string;
  headers: Record<string, string>;
  connections: number;
  threads: number;
  seconds: number;
  timeoutSeconds: number;
}

/** What a tool says of its run. */
export interface Told {
  windowSeconds: number;
  counts: ToldCounts;
  /** Connects that failed. */
  refused?: number;
  statusCodes?: Record<string, number>;
  latency: LatencySample;
}

/** A load tool of others, by its own machine-readable output. */
export interface Tool {
  name: EngineName;
  argv(run: ToolRun): string[];
  /** Reads what it printed. Throws on what it cannot have printed. */
  read(stdout: string): Told;
}

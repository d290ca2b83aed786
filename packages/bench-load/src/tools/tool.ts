import type { EngineName } from 'bench-model/engines';
import type { ToldCounts } from 'bench-model/load';
import type { LatencySample } from 'bench-statistics/histogram';

/** One run of a tool: its request, connections and duration. */
export interface ToolRun {
  url: string;
  /** True if the certificate of the server may be self-signed. */
  isInsecure: boolean;
  headers: Record<string, string>;
  connections: number;
  threads: number;
  seconds: number;
  timeoutSeconds: number;
}

/** The report of a tool on its run. */
interface Told {
  windowSeconds: number;
  counts: ToldCounts;
  latency: LatencySample;
}

/** An external load tool, read by its machine-readable output. */
export interface Tool {
  name: EngineName;
  /** Returns its command line. Its stdout is a socket, which it cannot open by the name `/dev/stdout`. */
  argv(run: ToolRun): string[];
  /** Reads its output. Throws if the format is unknown. */
  read(stdout: string): Told;
}

declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  /** The options of autocannon 9.0.0 that the driver sets. */
  interface Options {
    url: string;
    connections: number;
    duration: number;
    timeout: number;
    requests: { method: string; path: string; headers: Record<string, string>; body?: string }[];
    skipAggregateResult: boolean;
    histograms: Record<'latencies' | 'requests' | 'throughput', object>;
    setupClient(client: unknown): void;
  }
  /** The parts of autocannon's own result that a comparison with it reads. */
  interface Result {
    requests: { total: number; average: number };
    latency: { average: number };
    errors: number;
    duration: number;
  }
  export default function autocannon(
    options: Pick<Options, 'url' | 'connections' | 'duration'> & { histograms: { requests: object } },
  ): Promise<Result>;
  export default function autocannon(options: Options, done: (error: Error | null) => void): EventEmitter;
}

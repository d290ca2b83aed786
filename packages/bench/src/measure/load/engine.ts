import type { Connect, LoadResult } from '../../model.ts';
import type { ExpectedBody, RequestSpec } from './protocol.ts';

/** What to send, where, and over how many connections. */
export interface LoadSpec {
  host: string;
  port: number;
  requests: RequestSpec[];
  connections: number;
  connectsPerSecond: number;
  timeoutSeconds: number;
  barrierSeconds: number;
  expected: ExpectedBody | undefined;
  hashEvery: number;
}

/** When to warm up and measure. */
export interface Window {
  warmupSeconds: number;
  windowSeconds: number;
  /** Exactly this many requests, with `windowSeconds` as the longest that may take. */
  amount?: number;
}

/** Standing connections, ready to fire. Disposing ends every process behind them. */
export interface LoadSession extends AsyncDisposable {
  /** Resolves when all connections stand or the barrier's deadline has passed; throws when a generator breaks. */
  arm(): Promise<Connect>;
  /** Warms up and measures one window; `mark` is called when it opens and when it closes. */
  fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult>;
  /** The generators' process ids. */
  pids: number[];
}

/** What sends the load. */
export interface LoadEngine {
  name: string;
  open(spec: LoadSpec): LoadSession;
}

import type { Counts, LoadMode } from '../model.ts';
import type { LoadResult } from '../results/record.ts';
import type { LoadSpec } from './protocol.ts';

/** When to warm up and measure. */
export interface Window {
  warmupSeconds: number;
  windowSeconds: number;
  /** An amount of requests has `windowSeconds` as the longest that it can take. */
  load: LoadMode;
}

/** Standing connections, ready to fire. Disposing ends every process behind them. */
export interface LoadSession extends AsyncDisposable {
  /** Resolves when all connections stand or the barrier's deadline has passed; throws when a generator breaks. */
  arm(): Promise<void>;
  /**
   * Warms up and opens the window; `mark` is called when it opens and when it closes. Fired again, the same window is
   * open once more, and the result covers all of it.
   */
  fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult>;
  /**
   * What has become of all requests since the first connect, at any time. Throws when a generator has broken. Absent where
   * the engine does not say.
   */
  count?(): Promise<Counts>;
  /**
   * A session for another server in the same processes, which end with this one; the two must not fire at once. Absent
   * where the engine is in no duel.
   */
  beside?(spec: LoadSpec): LoadSession;
  /** The generators' process ids; what they start is counted with them. */
  pids: number[];
}

/** What sends the load. */
export interface LoadEngine {
  name: string;
  /** Opens a session over so many generator processes, no more than there are connections. */
  open(spec: LoadSpec, processes: number): LoadSession;
}

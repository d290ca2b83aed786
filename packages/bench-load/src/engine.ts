import type { Counts } from 'bench-model/figures';
import type { LoadMode } from 'bench-model/settings';
import type { LoadResult } from 'bench-model/load';
import type { LoadSpec, RequestSpec, Turn, TurnResult, WindowSpec } from './protocol.ts';

/** The times of the warm-up and the window, and the load in them. */
export interface Window extends WindowSpec {
  load: LoadMode;
}

/** Loads a server in turns that may be as short as its responses allow. */
export interface ShortTurns {
  /** Takes one turn. It ends when no request is open. */
  take(turn: Turn): Promise<TurnResult>;
  /** Returns the result of all windows so far. */
  collect(): Promise<LoadResult>;
}

/** Established connections that are ready to send. Disposing ends every process behind them. */
export interface LoadSession extends AsyncDisposable {
  /** Resolves when all connections are established or the deadline has passed. Throws if a generator fails. */
  arm(): Promise<void>;
  /**
   * Warms up and opens the window; calls `mark` when it opens and when it closes. Without a length, it only warms up. A second call
   * opens the same window again, and its result covers both, unless it is apart.
   */
  fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult>;
  /** Absent if the engine supports only long windows. */
  turns?: ShortTurns;
  /**
   * Returns the account of all requests since the first connect, at any time. Throws if a generator has failed. Absent if
   * the engine keeps none.
   */
  count?(): Promise<Counts>;
  /**
   * Opens a session for another server in the same processes, which end with this one. The two must not send at the same
   * time. Absent if the engine does not load servers in turns.
   */
  beside?(spec: LoadSpec): LoadSession;
  /** Closes the connections, while the processes stay for other sessions. Absent if that ends the processes. */
  leave?(): Promise<void>;
  /** Sends these requests from now on: as many as before, with the same responses. Absent if the engine cannot. */
  replace?(requests: readonly RequestSpec[]): Promise<void>;
  /** The process ids of the generators; descendants are counted with them. */
  pids: number[];
}

export interface LoadEngine {
  name: string;
  /** The version of the program that sends; absent if it is not known. Figures of two versions are not compared. */
  version?: string | undefined;
  /** Opens a session with this number of generator processes, at most one per connection. */
  open(spec: LoadSpec, processes: number): LoadSession;
}

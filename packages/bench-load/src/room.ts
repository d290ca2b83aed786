/** The accept queue of a server whose backlog is not known: the smallest usual one. */
const LEAST_CAPACITY = 128;
/** The part of an accept queue that may be filled while the server accepts. */
const SHARE = 0.5;
/** The time without a new answer after which a server counts as stuck. */
const HOLD_MS = 500;

/** The progress of the connections to one server; times are in ms of the monotonic clock. */
interface Progress {
  /** Started, and answered at least once. */
  begun: number;
  standing: number;
  /** The last time at which a connection was answered first; `startedAt` before. */
  stoodAt: number;
}

/** The server's side of a connect. */
interface RoomSpec {
  /** The connections that its accept queue holds; undefined if not known. */
  capacity?: number | undefined;
  /** The processes that connect at the same time. */
  processes: number;
  /** Returns the connections in the queue; absent if the system does not show it. */
  readWaiting?: (() => number | undefined) | undefined;
}

/**
 * Returns the number of connections that may start now without an overflow of the accept queue. The queue may be half full, or
 * full if the server has stopped answering new connections: some servers accept only some. If the queue cannot be seen,
 * unanswered connections count in its place.
 */
export function findRoom(spec: RoomSpec, { begun, standing, stoodAt }: Progress, now: number): number {
  const { capacity = LEAST_CAPACITY, processes, readWaiting } = spec;
  const waiting = readWaiting?.();
  const holds = Math.floor((now - stoodAt) / HOLD_MS);
  if (waiting !== undefined) {
    const most = holds > 0 ? capacity : capacity * SHARE;
    return Math.ceil((most - waiting) / processes);
  }
  // Accepted connections are not visible here: after each pause, some more may fit.
  return Math.ceil((capacity * SHARE * (1 + holds)) / processes) - (begun - standing);
}

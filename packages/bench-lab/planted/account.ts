import { createHistogram } from 'node:perf_hooks';
import type { Options } from './options.ts';

/** The answers a planted server can give. */
export type Answer = 'ok' | 'status500' | 'wrongBody' | 'wrongLength' | 'notFound';

/** The account of a server: everything that it did, counted from its start. */
export interface Snapshot {
  pid: number;
  /** The options that are not defaults, by their names on the command line. */
  faults: Partial<Options>;
  /** The occasion: a reading, SIGTERM, SIGINT or death. */
  occasion: string;
  uptimeSeconds: number;
  connections: {
    accepted: number;
    open: number;
    /** Closed by `--accept-and-close`. */
    closedAtAccept: number;
    /** Accepted and never answered, by `--serve-only`. */
    unserved: number;
    /** Closed by the server after an answer. */
    closedAfterAnswer: number;
    /** Ended by the client with a reset, or while the server wrote. */
    errors: number;
  };
  /** `read` is exactly the sum of `answered` and the five fields after it. */
  requests: {
    read: number;
    answered: Record<Answer, number>;
    /** Answered with a reset. */
    resets: number;
    /** Answered with the end of the connection. */
    closedEarly: number;
    /** Came after the server had closed the connection; never answered. */
    late: number;
    /** The connection ended before the answer was due. */
    abandoned: number;
    /** Not answered yet. */
    pending: number;
  };
  /** Answers that were sent a second time. */
  duplicates: number;
  /** Not counted as read: incomplete requests, data after a reset, and data that is not HTTP. */
  unread: { leftover: number; malformed: number };
  bodyBytesRead: number;
  stall?: { atRequest: number; ms: number; cpuUs: number; connectionsOpen: number; held?: number };
  /** The stalls of `--stall-every`, and the answers that they held. */
  stalls?: { everyMs: number; ms: number; held: number };
  /** From a read request to its written answer, over all answers since the last restart. */
  latencyUs: {
    count: number;
    mean?: number;
    min?: number;
    p50?: number;
    p90?: number;
    p99?: number;
    max?: number;
  };
}

/** Counts what one server does. */
export class Account {
  readonly connections: Snapshot['connections'] = {
    accepted: 0,
    open: 0,
    closedAtAccept: 0,
    unserved: 0,
    closedAfterAnswer: 0,
    errors: 0,
  };
  readonly requests: Snapshot['requests'] = {
    read: 0,
    answered: { ok: 0, status500: 0, wrongBody: 0, wrongLength: 0, notFound: 0 },
    resets: 0,
    closedEarly: 0,
    late: 0,
    abandoned: 0,
    pending: 0,
  };
  readonly unread = { leftover: 0, malformed: 0 };
  duplicates = 0;
  bodyBytesRead = 0;
  stall: Snapshot['stall'];
  stalls: Snapshot['stalls'];
  readonly #latencyNs = createHistogram();
  #latencySum = 0;
  readonly #faults: Partial<Options>;

  constructor(faults: Partial<Options>) {
    this.#faults = faults;
  }

  /** Counts a written answer; `readAt` is `performance.now()` when its request was read. */
  answer(answer: Answer, readAt: number): void {
    this.requests.answered[answer]++;
    const ns = Math.round((performance.now() - readAt) * 1e6);
    this.#latencyNs.record(Math.max(1, ns));
    this.#latencySum += ns;
  }

  /** Resets the latencies. Counts are never reset. */
  restartLatency(): void {
    this.#latencyNs.reset();
    this.#latencySum = 0;
  }

  /** Returns the account so far. */
  snapshot(occasion: string): Snapshot {
    return {
      pid: process.pid,
      faults: this.#faults,
      occasion,
      uptimeSeconds: process.uptime(),
      connections: this.connections,
      requests: this.requests,
      duplicates: this.duplicates,
      unread: this.unread,
      bodyBytesRead: this.bodyBytesRead,
      ...(this.stall === undefined ? {} : { stall: this.stall }),
      ...(this.stalls === undefined ? {} : { stalls: this.stalls }),
      latencyUs: this.#latency(),
    };
  }

  #latency(): Snapshot['latencyUs'] {
    const { count } = this.#latencyNs;
    if (count === 0) return { count };
    const percentile = (share: number): number => this.#latencyNs.percentile(share) / 1000;
    return {
      count,
      mean: this.#latencySum / count / 1000,
      min: this.#latencyNs.min / 1000,
      p50: percentile(50),
      p90: percentile(90),
      p99: percentile(99),
      max: this.#latencyNs.max / 1000,
    };
  }
}

import type { Connect, GeneratorUse, ScheduleReport } from '../results/record.ts';
import type { Counts } from '../model.ts';

/**
 * What the harness and a generator process say to each other: one JSON object per line, on stdin and
 * stdout. A generator ends when its stdin ends. Times are wall-clock so that one day a generator can
 * stand on another machine; spans are measured on its own monotonic clock.
 */
export type Order = ArmOrder | FireOrder | CountOrder;

/** One request of the workload's cycle. */
export interface RequestSpec {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What a right answer to one request looks like on the wire. */
export interface ExpectedBody {
  bytes: number;
  /** SHA-256 of the body, hex; with the placeholder for its request's id. */
  sha256: string;
  /** The body before, between and after its request's id, each byte a character; absent where requests have none. */
  around?: string[];
}

/** What to send, where, and over how many connections. */
export interface LoadSpec {
  host: string;
  port: number;
  requests: RequestSpec[];
  connections: number;
  /** Pace of the connects. */
  connectsPerSecond: number;
  /** Of one request. */
  timeoutSeconds: number;
  /** How long to wait for all connections to stand. */
  barrierSeconds: number;
  /** Of each request; undefined where right answers differ in their bytes. */
  expected: ExpectedBody[] | undefined;
  /** The connections begin one after the other over so long, so that no window catches them all at once. */
  spreadSeconds?: number | undefined;
  /** One in how many bodies is hashed; those with an id are all compared. */
  hashEvery: number;
  /** The metric of `Server-Timing` that is recorded of every answer. */
  timing?: string | undefined;
}

/** One process's share of the load on one server. */
export interface ArmOrder extends LoadSpec {
  do: 'arm';
  /** Which of the process's sessions this is: a duel has two. */
  session: number;
  /** Nobody else's: it is part of the ids that its requests have. */
  sender: number;
}

export interface FireOrder {
  do: 'fire';
  session: number;
  /** When the warm-up begins, ms since the epoch. */
  atMs: number;
  warmupSeconds: number;
  windowSeconds: number;
  /** Starts per second of this process: an open loop. Without it, each connection asks again when it is answered. */
  rate: number | undefined;
  /** Send exactly this many requests; the window then ends with their last answer, or after its time. */
  amount: number | undefined;
}

/** Asks for what has become of all requests so far, whatever else is under way. */
export interface CountOrder {
  do: 'count';
  session: number;
}

export type Report = ArmedReport | MarkReport | DoneReport | CountedReport | BrokenReport;

/** The window has just opened or closed. */
export interface MarkReport {
  event: 'opened' | 'closed';
}

export interface ArmedReport {
  event: 'armed';
  connect: Connect;
}

/** The account of a session over all the times that it has fired. */
export interface DoneReport {
  event: 'done';
  connect: Connect;
  openedAtMs: number;
  closedAtMs: number;
  windowSeconds: number;
  counts: Counts;
  lifetime: Counts;
  statusCodes: Record<string, number>;
  latencyHistogram: string;
  /** Of the same answers, each latency as short as it can have been; absent of a client that cannot tell. */
  shortestHistogram?: string;
  /** Histograms too, of the answers that told it: the metric asked for, and the latency without it. */
  timing: { metric: string; told: string; rest: string } | undefined;
  cycleUs: { sum: number; count: number };
  silentConnections: number;
  slices: { milliseconds: number; ok: number[] };
  bodyBytes: number | undefined;
  bodiesHashed: number;
  /** Mismatches with the id of another request; undefined where requests have none. */
  crossed?: number | undefined;
  /** Of an open loop. */
  schedule: ScheduleReport | undefined;
  /** Answers that nothing had asked for, from the first connect on; absent of a client that cannot tell. */
  unsolicited?: number;
  /** Of autocannon alone: what its own counter took down. */
  autocannonTicks?: number[];
  use: GeneratorUse;
}

export interface CountedReport {
  event: 'counted';
  lifetime: Counts;
}

export interface BrokenReport {
  event: 'broken';
  message: string;
}

/** Splits a byte stream into lines and hands each parsed one to `take`. */
export function readLines<T>(stream: NodeJS.ReadableStream, take: (message: T) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(JSON.parse(line) as T);
  });
}

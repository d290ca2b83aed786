import { orUndefined } from 'bench-model/errors';
import type { Tls } from 'bench-machine/tls';
import type {
  Connect,
  FirstWrong,
  GeneratorUse,
  IdleCloses,
  ScheduleReport,
  TlsUse,
  Warmup,
  Slices,
} from 'bench-model/load';
import type { Status } from 'bench-model/requests';
import type { Counts } from 'bench-model/figures';

/**
 * The protocol between the harness and a generator process: one JSON object per line, on stdin and stdout. A generator
 * ends when its stdin ends. Times are wall-clock, so that a generator could run on another machine; durations are
 * measured on its monotonic clock.
 *
 * These are the orders by their names: what each of them says, and its result. Every generator carries out `arm`, `fire` and
 * `count`. It gets the others only if its engine takes short turns.
 */
export interface Orders {
  /** Connects. */
  arm: { says: ArmOrder; result: Connect };
  /** Loads the server, and opens the window. */
  fire: { says: FireOrder; result: LoadReport };
  /** Loads the server in a closed loop for one short turn, from silence to silence. A report of each turn would cost more than the turn. */
  turn: { says: TurnOrder; result: TurnResult };
  /** Asks for the account of all turns. */
  collect: { says: object; result: LoadReport };
  /** Asks for the account of all requests so far, also while another order is carried out. */
  count: { says: object; result: Counts };
  /** Replaces the requests of a session that is not under load by as many others, which have the same responses. */
  replace: { says: { requests: readonly RequestSpec[] }; result: null };
  /** Closes the connections. */
  leave: { says: object; result: null };
}

/** An order of this name, to a session: two servers that take turns have one each in the same processes. */
export type OrderOf<Name extends keyof Orders> = Orders[Name]['says'] & { do: Name; session: number };

export type Order = { [Name in keyof Orders]: OrderOf<Name> }[keyof Orders];

export type Report =
  /** The result of an order of this name. */
  | { event: 'done'; order: keyof Orders; result: unknown }
  /** The window has just opened or closed. */
  | { event: 'opened' | 'closed' }
  | UsedUpReport
  /** It cannot go on. */
  | { event: 'broken'; message: string };

/** A route has sent each of its requests once. The generator sends nothing more. */
export interface UsedUpReport {
  event: 'used-up';
  /** The requests of the route, in all processes together. */
  requests: number;
  /** The time under load until then. */
  seconds: number;
}

/** One request of the workload. */
export interface RequestSpec {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The correct response to one request on the wire. */
export interface ExpectedBody {
  bytes: number;
  /** SHA-256 of the body in hex, with the placeholder for the id of its request. */
  sha256: string;
  /** The body before, between and after the id of its request, one character per byte; absent if requests have no ids. */
  around?: string[];
}

/** The requests that differ only by their rows: they are accounted for together. */
export interface RouteSpec {
  /** The index of its first request, and the number of its requests, which are sent in turn. */
  first: number;
  count: number;
  /** True if each of them is sent at most once. */
  once?: true | undefined;
  /** The right status codes, or classes of them such as `2xx`. */
  statuses: Status[];
  /** The JSON Schema of a right body: one response in `hashEvery` is checked. */
  schema?: string;
}

/** The requests, the address and the number of connections. */
export interface LoadSpec {
  host: string;
  port: number;
  /** Absent for plain HTTP. */
  tls?: Tls | undefined;
  requests: RequestSpec[];
  /** The routes; absent if each request is a separate route. */
  routes?: RouteSpec[] | undefined;
  /** The indexes of the routes in one cycle; absent if they are sent in turn. */
  order?: number[] | undefined;
  connections: number;
  timeoutSeconds: number;
  /** The longest wait until all connections are established. */
  barrierSeconds: number;
  /** The correct response to each request; undefined, or null for one request, if correct responses differ in their bytes. */
  expected: (ExpectedBody | null)[] | undefined;
  /** The time over which the connections start one after the other, so that no window catches them all at once. */
  spreadSeconds?: number | undefined;
  /** The sampling interval of hashed bodies; bodies with an id are all compared. */
  hashEvery: number;
  /** The metric of `Server-Timing` that is recorded for every response. */
  timing?: string | undefined;
  /** True if the parser reads every response: a test compares the two ways to read answers. */
  parsesAll?: boolean | undefined;
}

/** One process's share of the load on one server. */
export interface ArmOrder extends LoadSpec {
  /** The accept queue of the server in connections, if known, and the number of processes that connect to it. */
  acceptQueue: { capacity?: number | undefined; processes: number };
  /** The source addresses that its connections take in turn; absent if the system chooses. */
  sources?: string[] | undefined;
  /** Unique: it is part of the ids of its requests. */
  sender: number;
  /** The number of cycles of the requests that it skips at first: each process begins with other rows. */
  skippedCycles: number;
}

/** A warm-up and a window, of one process or of all. */
export interface WindowSpec {
  warmupSeconds: number;
  /** With 0, the load only warms up: the window stays closed. With an amount of requests, the longest duration. */
  windowSeconds: number;
  /** The seed of exponential gaps between the requests of an open loop, as independent users send; without it, they are equal. */
  gapSeed?: number | undefined;
  /** True if its result covers no window before it. */
  isApart?: true | undefined;
}

export interface FireOrder extends WindowSpec {
  /** The start of the warm-up, in ms since the epoch. */
  atMs: number;
  /** The rate of requests of this process, per second (open loop). Without it, the load is a closed loop. */
  rate: number | undefined;
  /** The exact number of requests to send. The window ends with the last response, or after its time. */
  amount: number | undefined;
  /** The number of requests that other processes send of the same amount before its own. */
  amountBefore?: number | undefined;
}

/** The times of one short turn, always of a closed loop. */
export interface Turn {
  /** The time under load before the window. */
  rampSeconds: number;
  windowSeconds: number;
}

/** The result of one short turn, in which the server was idle before its first request and after its last response. */
export interface TurnResult {
  /** From the first request to the last response. */
  seconds: number;
  /** Correct responses, those before and after the window included. */
  answers: number;
  /** Correct responses per second, summed over the connections: each from its first request to its last response. */
  goodputPerSecond: number;
}

export interface TurnOrder extends Turn {
  /** The start of the turn, in ms since the epoch. */
  atMs: number;
}

/** The account of one route: in the windows, and from the first connect on. */
export interface RouteReport {
  counts: Counts;
  lifetime: Counts;
  latencyHistogram: string;
  /** As in `LoadReport`. */
  openAges?: string | undefined;
}

export type ScheduleCounts = Omit<ScheduleReport, 'lateUs' | 'sinceSentUs'>;

/** The starts of an open loop that its schedule counts. */
export type StartReport = Pick<ScheduleReport, 'intended' | 'late' | 'dropped'>;

/** The account of a session over all its windows. */
export interface LoadReport {
  connect: Connect;
  openedAtMs: number;
  closedAtMs: number;
  windowSeconds: number;
  counts: Counts;
  lifetime: Counts;
  statusCodes: Record<string, number>;
  latencyHistogram: string;
  /** The lower bound of each latency, for the same responses; absent if the client cannot determine it. */
  shortestHistogram?: string;
  /**
   * The ages of the requests that were open when a window closed, in µs, those that waited for a connection included;
   * absent without any, and from clients that do not know them.
   */
  openAges?: string | undefined;
  /** The ages of those that were not answered after it either, when the client stopped waiting. */
  unansweredAges?: string | undefined;
  /** Histograms of the responses that reported it: the requested metric, and the rest of the latency. */
  timing: { metric: string; told: string; rest: string } | undefined;
  cycleUs: { sum: number; count: number };
  silentConnections: number;
  /**
   * The connections that were opened in the windows, and the times of their connects as a histogram; absent from clients
   * that do not count them.
   */
  opened?: { count: number; connects?: string } | undefined;
  /** Absent for plain HTTP, and from clients that do not report it. */
  tls?: TlsUse | undefined;
  /** The connections that the server closed because they were idle; absent without any. */
  idleCloses?: IdleCloses | undefined;
  slices: Slices;
  /** The load before the first window; absent if the client does not report it. */
  warmup?: Warmup;
  bodyBytes: number | undefined;
  bodiesHashed: number;
  /** The account of each route; absent if there is only one, and from clients that keep none. */
  routes?: RouteReport[] | undefined;
  /** Mismatches with the id of another request; undefined if requests have no ids. */
  crossed?: number | undefined;
  /** The first response of the window with a wrong body; absent without any. */
  firstWrong?: FirstWrong | undefined;
  /** The account of an open loop. */
  schedule: ScheduleCounts | undefined;
  /** Its latencies without the time that requests waited although a connection was free. */
  sinceSentHistogram?: string | undefined;
  /** Unsolicited responses since the first connect; absent if the client cannot detect them. */
  unsolicited?: number;
  use: GeneratorUse;
}

/** Splits a byte stream into lines, and hands each parsed one to `take`, and one that is no JSON object to `refuse`. */
export function readLines<T>(
  stream: NodeJS.ReadableStream,
  take: (message: T) => void,
  refuse: (line: string) => void,
): void {
  const takeLine = (line: string): void => {
    const message = orUndefined<unknown>(() => JSON.parse(line));
    if (typeof message === 'object' && message !== null) take(message as T);
    else refuse(line);
  };
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    // A line can have many pieces: only the new one is searched.
    const [first = '', ...others] = text.split('\n');
    rest += first;
    for (const other of others) {
      if (rest !== '') takeLine(rest);
      rest = other;
    }
  });
}

/** Describes a line that is no message. */
export function describeGarbage(line: string): string {
  return `it printed ${JSON.stringify(line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS)}…` : line)} instead of a report`;
}

/** The part of such a line that is shown. */
const MOST_CHARS = 100;

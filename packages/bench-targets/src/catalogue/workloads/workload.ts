import type { IncomingHttpHeaders } from 'node:http';
import { orUndefined } from 'bench-model/errors';
import type { Status } from 'bench-model/requests';

/**
 * The placeholder for an id. The sender replaces it with a unique id in each request body; a correct response repeats
 * that id. It has the length of an id.
 */
export const ID = 'bench-000000-00000000';

/** One request of a workload. */
export interface WorkloadRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** File and line of the row that filled in its placeholders. */
  row?: string;
}

/** One response, as received. */
export interface Answer {
  status: number;
  contentType: string;
  body: Buffer;
  headers?: IncomingHttpHeaders;
  /** The time until its head, and from there to the end of its body, in ms; absent if it was not taken. */
  headMs?: number;
  bodyMs?: number;
}

/** The requests of a draw that differ only by their rows: accounted for together. */
export interface Route {
  /** The request as it was written: `GET /orders/{id}`. */
  name: string;
  /** The index of its first request, and the number of its requests. */
  first: number;
  count: number;
  /** The right status codes. */
  statuses: Status[];
  /** The JSON Schema of a right body. */
  schema?: string;
  /** True if two equal answers before the load define the right body. */
  learns: boolean;
  /** True if correct responses may be the same bytes each time. */
  isFixed: boolean;
  /**
   * Set if each of its requests is sent at most once, because a server may refuse it the second time. The first ones are for
   * the checks, as many as this, and the others for the load.
   */
  once?: number;
}

/** A request before all others. Its response completes the draw. */
export interface Login {
  request: WorkloadRequest;
  /** Returns the draw with the token of this response, or the reason why there is none. */
  complete(answer: Answer): Draw | string;
}

/** The table `users` of one trial. */
export interface Table {
  /** The initial rows, ordered by their ids. */
  rows: Row[];
  /** The row that each request adds; absent if requests add none. */
  inserts?: Row;
}

/** A row without the id, which the table assigns. */
export interface Row {
  name: string;
  email: string;
}

/** Returns true for a conditional request: a right server may answer it with 304 and no body (RFC 9110, section 13). */
export function isConditional({ headers }: Pick<WorkloadRequest, 'headers'>): boolean {
  return Object.keys(headers).some((name) => /^if-(none-match|modified-since)$/i.test(name));
}

/** Returns true if a request changes nothing on a server (RFC 9110, section 9.2.1). */
export function isSafe({ method }: Pick<WorkloadRequest, 'method'>): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
}

/** Returns true if these requests carry a unique id each. */
export function haveIds(requests: readonly Pick<WorkloadRequest, 'body'>[]): boolean {
  return requests.some(({ body }) => body?.includes(ID));
}

/** The requests and correct responses of one trial. They are drawn for each trial, so that no response can be hard-coded. */
export interface Draw {
  requests: WorkloadRequest[];
  /** The routes; absent if each request is a separate route and they are sent in turn. */
  routes?: Route[];
  /** The indexes of the routes in one cycle. */
  order?: number[];
  /** The indexes of the requests that are sent one by one before and after the load; all by default. */
  probes?: number[];
  /**
   * Returns the index of the request to send in place of this one: the next of its route that was not sent yet. Absent if
   * every request can be sent again. Throws a trial error if the route has none left for the checks.
   */
  next?(index: number): number;
  /** The login that must come first. */
  login?: Login;
  /** Files that the server reads, by the environment variable that names each. */
  files: Record<string, string>;
  /** Further environment variables of the server. */
  env?: Record<string, string>;
  /** The contents of the database; absent if the workload uses none. */
  table?: Table;
  /** Requests that a right server refuses with a 4xx status. */
  refused?: WorkloadRequest[];
  /** Returns the error in a response to `requests[index]`, or undefined. Its id is the placeholder again. */
  check(answer: Answer, index: number): string | undefined;
  /** True if correct responses to one request are always the same bytes, except for the id. */
  fixedBody: boolean;
  /** The number of upstream requests behind one correct response; absent if the workload uses no upstream. */
  fetches?: number;
  /** The `Server-Timing` metric that holds the duration of the server's work. */
  timing?: string;
}

/** Takes a request of a draw to send: this one, or one that was not sent yet. */
export function takeRequest(
  draw: Pick<Draw, 'requests' | 'next'>,
  index = 0,
): { request: WorkloadRequest; index: number } {
  const taken = draw.next?.(index) ?? index;
  const request = draw.requests[taken];
  if (request === undefined) throw new Error('a workload without requests');
  return { request, index: taken };
}

/** Returns a request that only wakes an idle server: one that may be sent any number of times, or else one for its root. */
export function wakingRequest({ requests, routes = [] }: Pick<Draw, 'requests' | 'routes'>): WorkloadRequest {
  const again = routes.find(({ once }) => once === undefined) ?? { first: routes.length === 0 ? 0 : -1 };
  return requests[again.first] ?? { method: 'GET', path: '/', headers: {} };
}

/** The part of the rows that one life of a data set may use, if several lives share them. */
export interface Share {
  index: number;
  of: number;
}

/** Returns the draw of one route alone. */
export function drawRoute(draw: Draw, route: Route): Draw {
  const { first, count } = route;
  const { login: _login, refused: _refused, probes, ...rest } = draw;
  const isOwn = (index: number): boolean => index >= first && index < first + count;
  return {
    ...rest,
    requests: draw.requests.slice(first, first + count),
    routes: [{ ...route, first: 0 }],
    order: [0],
    ...(probes && { probes: probes.filter(isOwn).map((index) => index - first) }),
    ...(draw.next !== undefined && {
      next: (index: number) => (draw.next?.(first + index) ?? first + index) - first,
    }),
    check: (answer, index) => draw.check(answer, first + index),
    fixedBody: route.isFixed,
  };
}

/** The parameters that scale a workload, by name. */
export type Params = Record<string, number>;

/** A whole-number parameter: its default and its bounds. */
interface ParamRange {
  usual: number;
  least: number;
  most: number;
}

/** A workload: its requests, the correct responses, and the defaults of its plan. */
export interface Workload {
  name: string;
  rungs: number[];
  windowSeconds: number;
  warmupSeconds: number;
  timeoutSeconds: number;
  /** The longest wait until every connection has been answered once, in seconds; 30 by default. */
  barrierSeconds?: number;
  /** The designed wait of each response in seconds, of which windows are a multiple; `params` are complete. */
  waitSeconds?(params: Params): number;
  /** The parameters that `--param name=value` can set. */
  params?: Record<string, ParamRange>;
  /** The texts that the upstream must serve; absent if the workload uses no upstream. `params` are complete. */
  fixtures?(params: Params): string[];
  /** Set if the servers use a database. */
  stores?: true;
  /** Draws one trial. `random` returns numbers in [0, 1); `params` are complete. */
  draw(random: () => number, params: Params, share?: Share): Draw;
}

/** The times of most workloads. */
export const USUAL_TIMES = { windowSeconds: 5, warmupSeconds: 2, timeoutSeconds: 10 };

/** The draw of one GET request whose correct response is this JSON. */
export function drawGet(path: string, expected: string): Draw {
  return {
    requests: [{ method: 'GET', path, headers: {} }],
    files: {},
    check: (answer) => checkJson(answer, expected),
    fixedBody: true,
  };
}

/** A POST request with this body, as JSON. */
export function post(path: string, body: object): WorkloadRequest {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(body) };
}

/** Returns a short excerpt of a body for a message, in one line and without control characters. */
export function excerpt(body: Buffer | string): string {
  const text = body.toString().replaceAll(/[\s\p{Cc}]+/gu, ' ');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** Names the status of a response, and the target of a redirect: `status 404`, `status 301 to /orders/`. */
export function nameStatus({ status, headers }: Pick<Answer, 'status' | 'headers'>): string {
  const to = status >= 300 && status < 400 ? headers?.location : undefined;
  return `status ${status}${to === undefined ? '' : ` to ${to}`}`;
}

/** Describes a response with a wrong status: `status 404 instead of 200: no such page`. */
export function describeStatus(answer: Answer, instead = ''): string {
  const text = excerpt(answer.body).trim();
  return `${nameStatus(answer)}${instead}${text === '' ? '' : `: ${text}`}`;
}

/** Returns JSON with sorted object keys, so that equal values become equal texts. Throws if the text is not JSON. */
export function canonicalise(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Returns why a response is not the expected JSON; undefined if it is. */
export function checkJson(answer: Answer, expected: string): string | undefined {
  if (answer.status !== 200) return describeStatus(answer, ' instead of 200');
  if (!/^application\/json\b/.test(answer.contentType))
    return `content type "${answer.contentType}" instead of application/json`;
  const got = orUndefined(() => canonicalise(answer.body.toString()));
  if (got === undefined) return `the body is not JSON: ${excerpt(answer.body)}`;
  if (got === expected) return undefined;
  const from = Math.max(0, firstDifference(got, expected) - 20);
  return `wrong body: "…${got.slice(from, from + 60)}…" instead of "…${expected.slice(from, from + 60)}…"`;
}

/** The index of the first difference of two texts or bodies; the length of the shorter if it begins the other. */
function firstDifference<T extends string | Buffer>(one: T, other: T): number {
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  while (at < shorter && one[at] === other[at]) at++;
  return at;
}

/** Describes where a body begins to differ from an earlier one: `at byte 12, "…:43}…" instead of "…:42}…"`. */
export function describeDifference(body: Buffer, before: Buffer): string {
  const at = firstDifference(body, before);
  const from = Math.max(0, at - 20);
  const [now, then] = [body, before].map((one) => {
    const text = excerpt(one.subarray(from, from + 60));
    return `"${from > 0 ? '…' : ''}${text}${from + 60 < one.length ? '…' : ''}"`;
  });
  return `from byte ${(at + 1).toLocaleString('en-US')} on, ${now} instead of ${then}`;
}

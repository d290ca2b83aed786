/**
 * Stands in a request's body for an id that each request sent has of its own, and in a right answer for that id told back.
 * It is as long as the ids are.
 */
export const ID = 'bench-000000-00000000';

/** One request of a workload. */
export interface WorkloadRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** One answer, as it came over the wire. */
export interface Answer {
  status: number;
  contentType: string;
  body: Buffer;
}

/** The table `users` of one trial. */
export interface Table {
  /** What it holds at first, in the order of their ids. */
  rows: Row[];
  /** The row that each request adds; absent where none does. */
  inserts?: Row;
}

/** A row without the id that the table gives it. */
export interface Row {
  name: string;
  email: string;
}

/** True of a request that a right server may answer with 304 and no body (RFC 9110, section 13). */
export function isConditional({ headers }: Pick<WorkloadRequest, 'headers'>): boolean {
  return Object.keys(headers).some((name) => /^if-(none-match|modified-since)$/i.test(name));
}

/** Whether each request sent of these has an id of its own. */
export function haveIds(requests: readonly Pick<WorkloadRequest, 'body'>[]): boolean {
  return requests.some(({ body }) => body?.includes(ID));
}

/** What one trial asks and expects: drawn anew for each trial, so that no answer can be hard-coded. */
export interface Draw {
  requests: WorkloadRequest[];
  /** Files the server reads, by the environment variable that names each. */
  files: Record<string, string>;
  /** What the server is told besides, by environment variable. */
  env?: Record<string, string>;
  /** What is in the database; absent where nobody asks one. */
  table?: Table;
  /** Requests that a right server refuses with a status from 400 to 499. */
  refused?: WorkloadRequest[];
  /** What is wrong with an answer to `requests[index]`, in words; undefined when it is right. Its own id is the placeholder again. */
  check(answer: Answer, index: number): string | undefined;
  /** Whether right answers to one request are the same bytes each time, but for its id. */
  fixedBody: boolean;
  /** What a right answer takes of the upstream, in requests; absent where nobody is asked. */
  fetches?: number;
  /** The metric of `Server-Timing` by which the server tells what its work took. */
  timing?: string;
}

/** Figures by which a workload can be made larger or smaller, by name. */
export type Params = Record<string, number>;

/** Such a figure, a whole number: what it is unless told, and what it may be. */
export interface ParamRange {
  usual: number;
  least: number;
  most: number;
}

/** The requests and what a right answer is. */
export interface Workload {
  name: string;
  rungs: number[];
  windowSeconds: number;
  warmupSeconds: number;
  timeoutSeconds: number;
  /** How long to wait for all connections to be answered once; 30 unless told. */
  barrierSeconds?: number;
  /** How long a server may take until its first right answer; 30 by default. */
  startSeconds?: number;
  /** Set if its server is already running: nothing of it is started or stopped. */
  attached?: true;
  /** How long each answer waits by design: windows are a multiple of it. Absent where there is no such thing. `params` are complete. */
  waitSeconds?(params: Params): number;
  /** What `--param name=value` can set. */
  params?: Record<string, ParamRange>;
  /** The texts that an upstream has to serve; absent where nobody is asked. `params` are complete. */
  fixtures?(params: Params): string[];
  /** Whether its servers ask a database. */
  stores?: true;
  /** `random` gives numbers in [0, 1); `params` are complete. */
  draw(random: () => number, params: Params): Draw;
}

/** A short excerpt of a body, fit for a message. */
export function excerpt(body: Buffer | string): string {
  const text = body.toString().replaceAll(/\s+/g, ' ');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** JSON with object keys in one order, so that equal values are equal texts. Throws on text that is no JSON. */
export function canonicalise(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** What keeps an answer from being the expected JSON, in words; undefined when it is. */
export function checkJson(answer: Answer, expected: string): string | undefined {
  if (answer.status !== 200) return `status ${answer.status} instead of 200: ${excerpt(answer.body)}`;
  if (!/^application\/json\b/.test(answer.contentType)) {
    return `content type "${answer.contentType}" instead of application/json`;
  }
  let got: string;
  try {
    got = canonicalise(answer.body.toString());
  } catch {
    return `the body is no JSON: ${excerpt(answer.body)}`;
  }
  if (got === expected) return undefined;
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  const from = Math.max(0, at - 20);
  return `wrong body: "…${got.slice(from, from + 60)}…" instead of "…${expected.slice(from, from + 60)}…"`;
}

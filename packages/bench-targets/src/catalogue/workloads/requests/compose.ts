/** From what a user wrote to the requests of a plan. */
import { present, type UserRequestOptions } from 'bench-model/options';
import type { Draft, Locate, UserRequests, UserRequest, UserRows } from 'bench-model/requests';
import { UsageError } from 'bench-model/errors';
import { locateByName, readParts } from './parts.ts';
import { MARKS } from '../stamps.ts';
import { readRows, type Rows } from './rows.ts';
import { fill, namesIn, TOKEN, variablesIn } from './template.ts';
import { sha256Of } from './texts.ts';

const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/** Makes the draft of requests that are written as options. Throws a usage error for a body that no request can carry. */
export function draftOptions({ requests, headers, body, draft, rows }: UserRequestOptions): Draft {
  const written = requests.map(({ method, path }): UserRequest => {
    const carries = requests.length === 1 || !WITHOUT_BODY.has(method);
    return { method, path, weight: 1, headers: {}, ...(carries && present({ body })) };
  });
  if (body !== undefined && written.every((one) => one.body === undefined)) {
    const cure = "add one, e.g. --request 'POST /orders'";
    throw new UsageError('--body has no effect: no request carries a body', cure);
  }
  const all = [...(draft?.requests ?? []), ...written].map((one) => ({
    ...one,
    headers: { ...headers, ...one.headers },
  }));
  return { ...draft, requests: all, ...present({ rows }) };
}

/**
 * Returns the requests of a plan: reads the files that they name, and keeps their digests. Throws a usage error for requests
 * that could never be sent or checked.
 */
export function completeUserRequests(
  { rows: file, requests, login, ...rest }: Draft,
  locate: Locate = locateByName(requests),
): UserRequests {
  if (requests.length === 0) throw new UsageError('no request is named', "e.g. --get '/orders?limit=20'");
  const rows = file === undefined ? undefined : readRows(file);
  const columns = new Set([...(rows?.names ?? []), ...Object.keys(MARKS), ...(login ? [TOKEN] : [])]);
  if (login !== undefined && rows?.names.includes(TOKEN)) {
    const message = `${rows.file}:1: the column "${TOKEN}" has the name of the login's token`;
    throw new UsageError(message, 'rename the column');
  }
  const parts = readParts({ requests, login }, locate);
  for (const [index, { request, body, expected }] of parts.kinds.entries()) {
    const { path, headers } = request;
    refuseUnknown(path, columns, locate(index, 'path'));
    for (const value of Object.values(headers)) refuseUnknown(value, columns, locate(index, 'headers'));
    refuseExpectedMark(expected, rows, locate(index, 'expect'));
    for (const text of [path, ...Object.values(headers), body, expected])
      refuseUnset(text, locate(index, 'path'));
    refuseHeaders(headers, locate(index, 'headers'));
  }
  for (const text of [login?.path, ...Object.values(login?.headers ?? {}), parts.loginBody])
    refuseUnset(text, 'the login');
  for (const headers of [login?.headers, login?.send]) refuseHeaders(headers ?? {}, 'the login');
  const read = [...parts.contents].filter(([name]) => name !== login?.body);
  const files = Object.fromEntries(read.map(([name, content]) => [name, sha256Of(content)]));
  const { rows: _, ...described } = rows ?? {};
  return { requests, files, ...present({ rows: rows && (described as UserRows), login }), ...rest };
}

/** Throws a usage error for headers that cannot be sent, with the variables that they name. */
function refuseHeaders(headers: Readonly<Record<string, string>>, where: string): void {
  for (const value of Object.values(headers)) fill(value, {}, 'header', where);
}

function refuseUnknown(text: string, columns: ReadonlySet<string>, where: string): void {
  const unknown = namesIn(text).find((name) => !columns.has(name));
  if (unknown === undefined) return;
  const known = columns.size === 0 ? '' : `; the known names are ${[...columns].join(', ')}`;
  throw new UsageError(
    `${where}: nothing gives {${unknown}} a value${known}`,
    `name a file with a column ${unknown}: "rows": "ids.csv" in a file of requests or stack.json`,
  );
}

/** The right body is known before the load, and these values only when a request is sent. */
function refuseExpectedMark(expected: string | undefined, rows: Rows | undefined, where: string): void {
  const mark = namesIn(expected ?? '').find((name) => name in MARKS && rows?.names.includes(name) !== true);
  if (mark === undefined) return;
  throw new UsageError(
    `${where}: the expected body holds {${mark}}, which is another value in each request`,
    'expect a status or a JSON Schema instead',
  );
}

/** Throws a usage error if a text names a variable that is not set, before anything is measured. */
export function refuseUnset(text: string | undefined, where: string): void {
  const unset = variablesIn(text ?? '').find((name) => !process.env[name]);
  if (unset === undefined) return;
  throw new UsageError(`${where}: the variable ${unset} is not set`, `set it: export ${unset}=…`);
}

/** From what a user wrote to the requests of a plan. */
import type { AskedOptions } from 'bench-model/options';
import type { Draft, Locate, Asked, AskedRequest, Expectation } from 'bench-model/requests';
import { BenchError } from 'bench-model/errors';
import { readRows } from './rows.ts';
import { compileSchema } from './schema.ts';
import { nameRequest } from './sent.ts';
import { namesIn, TOKEN, variablesIn } from './template.ts';
import { Texts } from './texts.ts';

const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/** Makes the draft of requests that are written as options. Throws a usage error for a body that no request can carry. */
export function draftOptions({ requests, headers, body, draft, ...given }: AskedOptions): Draft {
  const expect = toExpectation(given);
  const written = requests.map(({ method, path }): AskedRequest => ({
    method,
    path,
    weight: 1,
    headers: {},
    ...(body === undefined || (requests.length > 1 && WITHOUT_BODY.has(method)) ? {} : { body }),
    ...(expect === undefined ? {} : { expect }),
  }));
  if (body !== undefined && written.every((one) => one.body === undefined)) {
    throw new BenchError(
      'usage',
      '--body has no effect: no request carries a body',
      "add one, e.g. --request 'POST /orders'",
    );
  }
  const all = [...(draft?.requests ?? []), ...written].map((one) => ({
    ...one,
    headers: { ...headers, ...one.headers },
    ...(one.expect === undefined && expect !== undefined ? { expect } : {}),
  }));
  const { rows } = given;
  return { ...draft, requests: all, ...(rows === undefined ? {} : { rows }) };
}

function toExpectation({
  expect,
  schema,
  statuses,
}: Pick<AskedOptions, 'expect' | 'schema' | 'statuses'>): Expectation | undefined {
  if (expect === undefined && schema === undefined && statuses === undefined) return undefined;
  return {
    ...(statuses === undefined ? {} : { statuses }),
    ...(expect === undefined ? {} : { body: expect }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/**
 * Returns the requests of a plan: reads the files that they name, and keeps their digests. Throws a usage error for requests
 * that could never be sent or checked.
 */
export function completeAsked(
  { rows: file, requests, login, ...rest }: Draft,
  locate: Locate = nameOption(requests),
): Asked {
  if (requests.length === 0) {
    throw new BenchError('usage', 'no request is named', "e.g. --get '/orders?limit=20'");
  }
  const texts = new Texts();
  const rows = file === undefined ? undefined : readRows(file);
  const columns = new Set([...(rows?.names ?? []), ...(login === undefined ? [] : [TOKEN])]);
  if (login !== undefined && rows?.names.includes(TOKEN)) {
    throw new BenchError(
      'usage',
      `${rows.file}:1: the column "${TOKEN}" has the name of the login's token`,
      'rename the column',
    );
  }
  for (const [index, one] of requests.entries()) {
    const { path, headers, body, expect } = one;
    refuseUnknown(path, columns, locate(index, 'path'));
    for (const value of Object.values(headers)) refuseUnknown(value, columns, locate(index, 'headers'));
    const read = [
      path,
      ...Object.values(headers),
      ...(body === undefined ? [] : [texts.read(body, locate(index, 'body'))]),
      ...(expect?.body === undefined ? [] : [texts.read(expect.body, locate(index, 'expect'))]),
    ];
    for (const text of read) refuseUnset(text, locate(index, 'path'));
    if (expect?.schema !== undefined) {
      compileSchema(texts.read(expect.schema, locate(index, 'expect')), locate(index, 'expect'));
    }
  }
  if (login !== undefined) {
    const body = login.body === undefined ? [] : [texts.read(login.body, 'the body of the login')];
    for (const text of [login.path, ...Object.values(login.headers), ...body]) refuseUnset(text, 'the login');
  }
  const { [login?.body ?? '']: _, ...digests } = texts.digests;
  return {
    requests,
    files: digests,
    ...(rows === undefined
      ? {}
      : { rows: { file: rows.file, count: rows.count, names: rows.names, sha256: rows.sha256 } }),
    ...(login === undefined ? {} : { login }),
    ...rest,
  };
}

function nameOption(requests: readonly AskedRequest[]): Locate {
  return (index) => {
    const request = requests[index];
    return request === undefined ? 'the requests' : nameRequest(request);
  };
}

function refuseUnknown(text: string, columns: ReadonlySet<string>, where: string): void {
  const unknown = namesIn(text).find((name) => !columns.has(name));
  if (unknown === undefined) return;
  const known = columns.size === 0 ? '' : `; the known names are ${[...columns].join(', ')}`;
  throw new BenchError(
    'usage',
    `${where}: nothing gives {${unknown}} a value${known}`,
    `name a file with a column ${unknown}: --rows ids.csv`,
  );
}

/** Throws before anything is measured if a variable is not set. */
function refuseUnset(text: string, where: string): void {
  const unset = variablesIn(text).find((name) => !process.env[name]);
  if (unset === undefined) return;
  throw new BenchError('usage', `${where}: the variable ${unset} is not set`, `set it: export ${unset}=…`);
}

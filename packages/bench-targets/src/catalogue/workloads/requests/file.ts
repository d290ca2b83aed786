/** The requests in a JSON file: a separate file of requests, or a manifest. */
import { showPath } from 'bench-machine/files';
import { dirname, resolve } from 'node:path';
import { checkBy } from 'bench-model/json-schema';
import { documentOf } from 'bench-machine/home';
import { readJsonFile, refuseErrors, type JsonFile } from '../../json-file.ts';
import { present } from 'bench-model/options';
import type { RequestsFile, WrittenLogin, WrittenRequest } from 'bench-model/manifest';
import type { Draft, Locate, UserLogin, UserRequest } from 'bench-model/requests';

const HINT = `${documentOf('guides/requests.md')} shows a complete file of requests`;

/** Reads a file of requests, or those of a manifest. Throws a usage error with file and line if it is not right. */
export function readRequests(file: string): { draft: Draft; locate: Locate } {
  const read = readJsonFile(file, { missing: 'e.g. --requests-file requests.json', wrong: HINT });
  const { requests, headers, rows, login } = Object(read.value) as RequestsFile;
  const written = 'variants' in Object(read.value) ? present({ requests, headers, rows, login }) : read.value;
  refuseErrors(checkBy('requests')(written), read, { what: 'a file of requests', hint: HINT });
  return toDraft(written as RequestsFile, read, dirname(resolve(file)));
}

/** Returns the requests of a file in `folder`, which is right by its schema, and the place of each request in it. */
export function toDraft(
  { requests, headers = {}, rows, login }: RequestsFile,
  { shown, at }: JsonFile,
  folder: string,
): { draft: Draft; locate: Locate } {
  const draft: Draft = {
    requests: requests.map((one) => toRequest(one, lowerNames(headers), folder)),
    from: shown,
    rows: rows === undefined ? undefined : showPath(resolve(folder, rows)),
    login: login && toLogin(login, folder),
  };
  return {
    draft,
    locate: (index, field) =>
      at(['requests', index, ...(typeof requests[index] === 'string' ? [] : [field])]),
  };
}

function toRequest(
  one: string | WrittenRequest,
  shared: Record<string, string>,
  folder: string,
): UserRequest {
  const written: WrittenRequest = typeof one === 'string' ? { request: one } : one;
  const { request, weight = 1, headers = {}, body, repeat, expect } = written;
  const { status } = expect ?? {};
  return {
    ...splitLine(request),
    weight,
    headers: { ...shared, ...lowerNames(headers) },
    ...present({
      body: toText(body, folder),
      repeat,
      expect:
        expect &&
        present({
          statuses: status === undefined ? undefined : [status].flat(),
          body: toText(expect.body, folder),
          schema: toText(expect.schema, folder),
        }),
    }),
  };
}

function toLogin(
  { request, headers = {}, body, token, every, send }: WrittenLogin,
  folder: string,
): UserLogin {
  const usual: Record<string, string> =
    'cookie' in token ? { cookie: `${token.cookie}={token}` } : { authorization: 'Bearer {token}' };
  return {
    ...splitLine(request),
    headers: lowerNames(headers),
    ...present({ body: toText(body, folder), every }),
    token,
    send: send === undefined ? usual : lowerNames(send),
  };
}

/** Splits `GET /orders`. */
function splitLine(line: string): { method: string; path: string } {
  const [method = '', path = ''] = line.split(' ');
  return { method, path };
}

/** Returns JSON as text; a text stays as it is, and the path of a file becomes relative to the current folder. */
function toText(value: unknown, folder: string): string | undefined {
  if (typeof value !== 'string') return JSON.stringify(value);
  return value.startsWith('@') ? `@${showPath(resolve(folder, value.slice(1)))}` : value;
}

function lowerNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

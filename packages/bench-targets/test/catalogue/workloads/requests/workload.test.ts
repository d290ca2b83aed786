import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { workloadOf } from '../../../../src/catalogue/workloads/index.ts';
import { completeUserRequests, draftOptions } from '../../../../src/catalogue/workloads/requests/compose.ts';
import type { UserRequestOptions } from 'bench-model/options';
import type { UserRequest } from 'bench-model/requests';
import { requestsWorkload } from '../../../../src/catalogue/workloads/requests/workload.ts';
import type { Draw } from '../../../../src/catalogue/workloads/workload.ts';
import { createRandom } from 'bench-statistics/random';
import { redact } from 'bench-machine/redact';
import { errorOf } from '../../../../../bench-lab/testing/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-requests-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const GET = { method: 'GET', path: '/orders?page=2' };
/** Options, or the correct response of one request, as a file of requests has it. */
type Given = Partial<UserRequestOptions> & { expect?: UserRequest['expect'] };
const ask = ({ expect: right, ...given }: Given) =>
  completeUserRequests(
    draftOptions({
      ...(right === undefined
        ? { requests: [GET] }
        : { requests: [], draft: { requests: [{ ...GET, weight: 1, headers: {}, expect: right }] } }),
      headers: {},
      ...given,
    }),
  );
const drawOf = (given: Given, seed = 1): Draw => {
  const random = createRandom(seed);
  return requestsWorkload(ask(given)).draw(() => random.float(), {});
};
const check = (given: Given, status: number, body = '') =>
  drawOf(given).check({ status, contentType: '', body: Buffer.from(body) }, 0);
const allOf = (...requests: Partial<UserRequest>[]) =>
  requests.map((one): UserRequest => ({ method: 'GET', path: '/', weight: 1, headers: {}, ...one }));

describe('one request', () => {
  it('is sent with its path, query and headers', () => {
    const { requests, fixedBody } = drawOf({ headers: { authorization: 'x' } });
    expect(requests).toEqual([{ ...GET, headers: { authorization: 'x' } }]);
    expect(fixedBody).toBe(true);
  });

  it('sends a body as JSON by default, and the contents of a file given with @', () => {
    const body = `@${write('order.json', '{"n":1}')}`;
    const POST = [{ method: 'POST', path: '/orders' }];
    expect(drawOf({ requests: POST, body }).requests[0]).toMatchObject({
      body: '{"n":1}',
      headers: { 'content-type': 'application/json' },
    });
    const text = drawOf({ requests: POST, body: 'n=1', headers: { 'content-type': 'text/plain' } });
    expect(text.requests[0]).toMatchObject({ body: 'n=1', headers: { 'content-type': 'text/plain' } });
  });

  it('names a file that cannot be read, and one that has changed since the plan', () => {
    const file = write('changing.json', '{"n":1}');
    expect(errorOf(() => ask({ expect: { body: '@none.json' } })).message).toContain(
      '@none.json: the file cannot be read',
    );
    const planned = ask({ expect: { body: `@${file}` } });
    expect(planned.files).toEqual({ [`@${file}`]: createHash('sha256').update('{"n":1}').digest('hex') });
    expect(() => requestsWorkload(planned)).not.toThrow();
    write('changing.json', '{"n":2}');
    expect(errorOf(() => requestsWorkload(planned)).message).toContain('has changed since the run began');
  });

  it('has no parameter, fixture, database or waiting time of another workload', () => {
    const workload = workloadOf({ workload: 'wait', userRequests: ask({}) });
    expect(workload.name).toBe('requests');
    for (const field of ['params', 'fixtures', 'stores', 'waitSeconds', 'barrierSeconds'])
      expect(workload).not.toHaveProperty(field);
  });
});

describe('a correct response', () => {
  it('has any 2xx status by default, and is learned before the load starts', () => {
    for (const status of [200, 201, 204, 299]) expect(check({}, status, 'whatever')).toBeUndefined();
    for (const status of [199, 301, 404, 500]) expect(check({}, status, 'no')).toBe(`status ${status}: no`);
    expect(drawOf({}).routes).toMatchObject([{ learns: true, isFixed: true, statuses: ['2xx'] }]);
  });

  it('has one of the expected statuses, with any body', () => {
    const given = { expect: { statuses: [404, '3xx' as const] } };
    for (const status of [404, 301]) expect(check(given, status)).toBeUndefined();
    expect(check(given, 200, 'ok')).toBe('status 200 instead of 404 or 3xx: ok');
    expect(drawOf(given).routes).toMatchObject([{ learns: false, isFixed: false }]);
  });

  it('can be 304 if the request is conditional', () => {
    for (const name of ['if-none-match', 'If-Modified-Since'])
      expect(check({ headers: { [name]: 'x' } }, 304)).toBeUndefined();
    expect(check({}, 304)).toMatch(/^status 304/);
  });

  it('is the expected text, or equal JSON', () => {
    expect(check({ expect: { body: 'plain' } }, 200, 'plain')).toBeUndefined();
    expect(check({ expect: { body: '{"a":1,"b":2}' } }, 200, '{ "b": 2, "a": 1 }')).toBeUndefined();
    expect(check({ expect: { body: '{"a":1}' } }, 200, '{"a":2}')).toBe(
      'the body differs from the expected one: {"a":2}',
    );
    expect(check({ expect: { body: 'plain' } }, 500, 'plain')).toBe('status 500: plain');
  });

  it('matches the JSON Schema, of draft 7 or 2020-12', () => {
    for (const dialect of [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
    ]) {
      const schema = JSON.stringify({ $schema: dialect, type: 'object', required: ['id'] });
      expect(check({ expect: { schema } }, 200, '{"id":1}')).toBeUndefined();
      expect(check({ expect: { schema } }, 200, '{"no":1}')).toContain(
        "violates the schema: must have required property 'id'",
      );
      expect(check({ expect: { schema } }, 200, 'text')).toBe('the body is not JSON: text');
    }
    expect(errorOf(() => ask({ expect: { schema: '{"type":"nothing"}' } })).message).toContain(
      'not a JSON Schema',
    );
    const nested = `${'['.repeat(2e5)}${']'.repeat(2e5)}`;
    expect(check({ expect: { schema: '{"items":{"$ref":"#"}}' } }, 200, nested)).toContain(
      'is nested too deeply',
    );
  });
});

describe('several requests', () => {
  const draft = { requests: allOf({ path: '/a', weight: 7 }, { path: '/b', weight: 2 }, { path: '/c' }) };

  it('occur in each cycle exactly as often as their weights, spread over the cycle', () => {
    const { order = [] } = drawOf({ requests: [], draft });
    expect(order.map((index) => 'abc'[index]).join('')).toBe('aabaacaaba');
  });

  it('have a short cycle if their weights have a common divisor', () => {
    const even = { requests: allOf({ path: '/a', weight: 400 }, { path: '/b', weight: 600 }) };
    expect(drawOf({ requests: [], draft: even }).order).toHaveLength(5);
  });
});

describe('rows', () => {
  const ROUTES = allOf(
    { path: '/orders/{id}' },
    { path: '/health' },
    { method: 'POST', path: '/orders', headers: { 'x-id': '{id}' }, body: '{"id":"{id}","n":"{n}"}' },
  );
  const drawRows = (name: string, text: string, requests = ROUTES, seed = 1) =>
    drawOf({ requests: [], draft: { requests, rows: write(name, text) } }, seed);

  it('fill in path, header and body, each with the escaping it needs', () => {
    const { requests, routes } = drawRows('odd.csv', 'id,n\n"a/b ""é",7\n');
    expect(routes?.map(({ first, count }) => [first, count])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(requests[0]?.path).toBe('/orders/a%2Fb%20%22%C3%A9');
    expect(requests[2]).toMatchObject({ headers: { 'x-id': 'a/b "é' }, body: '{"id":"a/b \\"é","n":"7"}' });
    expect(requests[2]?.row).toMatch(/odd\.csv:2$/);
  });

  it('keep the types of values in JSON Lines', () => {
    const { requests } = drawRows('odd.jsonl', '{"id":1,"n":{"a":true}}\n\n{"id":"x","n":null}\n');
    const bodies = requests.flatMap(({ body }) => body ?? []);
    expect(bodies.toSorted()).toEqual(['{"id":"x","n":null}', '{"id":1,"n":{"a":true}}']);
  });

  it('are shuffled by the seed of the trial, and each is used once', () => {
    const text = `id,n\n${Array.from({ length: 50 }, (_, id) => `${id},0`).join('\n')}\n`;
    const paths = (seed: number) =>
      drawRows('many.csv', text, ROUTES, seed)
        .requests.slice(0, 50)
        .map(({ path }) => path);
    expect(paths(1)).toEqual(paths(1));
    expect(paths(2)).not.toEqual(paths(1));
    expect(new Set(paths(1)).size).toBe(50);
  });

  it('are sampled if the file is too long, and only some of them are probed', () => {
    const text = `id,n\n${Array.from({ length: 12_000 }, (_, id) => `${id},0`).join('\n')}\n`;
    const { routes, probes } = drawRows('long.csv', text, ROUTES.slice(0, 2));
    expect(routes?.map(({ count }) => count)).toEqual([10_000, 1]);
    expect(probes).toHaveLength(200);
  });

  it.each([
    ['two.csv', 'id,n\n1,2\n3\n', /two\.csv:3: the row has 1 column, but the header has 2$/],
    ['long.csv', 'id,n\n"a\nb",2\n1,2,3\n', /long\.csv:4: the row has 3 columns, but the header has 2$/],
    ['open.csv', 'id,n\n1,"2\n', /open\.csv:\d: not CSV: quote not closed$/],
    ['twice.csv', 'id,id\n1,2\n', /twice\.csv:1: two columns are named "id"$/],
    ['none.csv', 'id,n\n', /none\.csv: the file has no rows$/],
    ['bad.jsonl', '{"id":1,"n":1}\n{"id":\n', /bad\.jsonl:2: not JSON$/],
    ['list.jsonl', '{"id":1}\n[1]\n', /list\.jsonl:2: not a JSON object$/],
    ['less.jsonl', '{"id":1,"n":1}\n{"id":1}\n', /less\.jsonl:2: the row has no "n"$/],
  ])('of %s are rejected, naming the file and line', (name, text, message) => {
    expect(errorOf(() => drawRows(name, text)).message).toMatch(message);
  });

  it('must have a column for each placeholder', () => {
    const message = errorOf(() => drawRows('other.csv', 'sku\n1\n')).message;
    expect(message).toBe('GET /orders/{id}: nothing gives {id} a value; the known names are sku, uuid, seq');
    expect(errorOf(() => ask({ requests: [{ method: 'GET', path: '/a/{id}' }] })).hint).toContain('"rows":');
  });
});

const answer = (body: string, status = 200, headers = {}) => ({
  status,
  contentType: '',
  body: Buffer.from(body),
  headers,
});

describe('a login', () => {
  const LOGIN = {
    method: 'POST',
    path: '/login',
    headers: {},
    body: '{"user":"ada","password":"{env:BENCH_TEST_PASSWORD}"}',
    token: { json: '/data/token' },
    send: { authorization: 'Bearer {token}' },
  };
  const open = (token: object = LOGIN.token) => {
    process.env['BENCH_TEST_PASSWORD'] = 'correct horse';
    const draft = {
      requests: allOf({ path: '/orders/{token}' }),
      login: { ...LOGIN, token: token as never },
    };
    return drawOf({ requests: [], draft }).login!;
  };

  it('reads its secrets from the environment, and adds its token to every request', () => {
    const login = open();
    expect(login.request.body).toBe('{"user":"ada","password":"correct horse"}');
    expect(login.complete(answer('{"data":{"token":"tok/en-1"}}'))).toMatchObject({
      requests: [{ path: '/orders/tok%2Fen-1', headers: { authorization: 'Bearer tok/en-1' } }],
    });
  });

  it('reads the token from a header or a cookie', () => {
    expect(open({ header: 'X-Token' }).complete(answer('', 200, { 'x-token': 'secret-1' }))).toBeTypeOf(
      'object',
    );
    const cookies = { 'set-cookie': ['a=b; Path=/', 'sid=secret-2; HttpOnly'] };
    expect(open({ cookie: 'sid' }).complete(answer('', 200, cookies))).toBeTypeOf('object');
  });

  it('explains a missing token without quoting the response', () => {
    expect(open().complete(answer('{"data":{"access":"secret-token"}}'))).toBe(
      'the body has no /data/token; its fields are access',
    );
    expect(open().complete(answer('{}', 401))).toBe('status 401 instead of 2xx');
    expect(open({ cookie: 'sid' }).complete(answer('', 200, { 'set-cookie': ['a=b'] }))).toContain('only a');
    expect(open().complete(answer('{"data":{"token":"abc"}}'))).toContain('3 characters');
  });

  it('has its body, password and token redacted in every text', () => {
    const login = open();
    login.complete(answer('{"data":{"token":"tok/en-2"}}'));
    const shown = redact(`Bearer tok/en-2 tok%2Fen-2 ${login.request.body} correct horse`);
    for (const secret of ['tok/en-2', 'tok%2Fen-2', 'correct horse']) expect(shown).not.toContain(secret);
    expect(redact({ login: LOGIN })).toEqual({ login: { ...LOGIN, body: '(not kept)' } });
  });

  it('requires the environment variables that it names', () => {
    const draft = { requests: allOf({}), login: { ...LOGIN, body: '{env:BENCH_TEST_UNSET}' } };
    expect(errorOf(() => ask({ requests: [], draft })).message).toBe(
      'the login: the variable BENCH_TEST_UNSET is not set',
    );
  });
});

const ids = (): string =>
  write('once.csv', `id\n${Array.from({ length: 30 }, (_, id) => `o${id}`).join('\n')}\n`);
const requestsOf = (...requests: Partial<UserRequest>[]): Draw =>
  drawOf({ requests: [], draft: { requests: allOf(...requests) }, rows: ids() });
const once = (...requests: Partial<UserRequest>[]) =>
  requestsOf(...requests).routes?.map((route) => route.once);

describe('rows of requests that a server may refuse the second time', () => {
  it('are sent once by POST and DELETE, and by others if they say so', () => {
    const path = '/orders/{id}';
    expect(
      once(
        { method: 'POST', path },
        { method: 'DELETE', path },
        { method: 'PUT', path },
        { method: 'GET', path },
      ),
    ).toEqual([11, 11, undefined, undefined]);
    expect(once({ method: 'POST', path, repeat: true }, { method: 'PUT', path, repeat: false })).toEqual([
      undefined,
      11,
    ]);
    // Without rows, nothing runs out.
    expect(once({ method: 'POST', path: '/orders' })).toEqual([undefined]);
  });

  it('are handed to the checks one by one, and each keeps its check', () => {
    const draw = requestsOf({ method: 'POST', path: '/orders/{id}', expect: { body: '{"id":"{id}"}' } });
    expect(draw.probes).toHaveLength(5);
    const taken = Array.from({ length: 11 }, () => draw.next?.(0) ?? -1);
    expect(new Set(taken).size).toBe(11);
    for (const index of taken) {
      const id = draw.requests[index]?.path.slice('/orders/'.length);
      const right = { status: 200, contentType: '', body: Buffer.from(`{"id":"${id}"}`) };
      expect(draw.check(right, index)).toBeUndefined();
      expect(draw.check({ ...right, body: Buffer.from('{"id":"other"}') }, index)).toContain('differs');
    }
    expect(errorOf(() => draw.next?.(0)).message).toContain('no row is left for the checks');
  });

  it('are those of the same trial after a login', () => {
    const login = {
      method: 'POST',
      path: '/login',
      headers: {},
      token: { json: '' },
      send: { authorization: '{token}' },
    };
    const draft = { requests: allOf({ method: 'POST', path: '/orders/{id}' }), login };
    const before = drawOf({ requests: [], draft, rows: ids() });
    const first = before.next?.(0);
    const after = before.login?.complete({ status: 200, contentType: '', body: Buffer.from('"token-1"') });
    expect(first).toBe(0);
    expect(typeof after === 'object' && after.next?.(0)).toBe(1);
  });

  it('can be made: {uuid} and {seq} hold a mark until they are sent', () => {
    const draw = requestsOf({ method: 'POST', path: '/{uuid}', body: '{"n":"{seq}","name":"n{seq}"}' });
    expect(draw.requests).toHaveLength(1);
    const { path, body } = draw.requests[0] ?? {};
    expect(path).toMatch(/^\/[\da-f-]{36}$/);
    expect(JSON.parse(body ?? '')).toEqual({ n: 8190246357, name: 'n8190246357' });
    const wrong = errorOf(() => ask({ expect: { body: '{"id":"{uuid}"}' } }));
    expect(wrong.message).toContain('the expected body holds {uuid}');
  });
});

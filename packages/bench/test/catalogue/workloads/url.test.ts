import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { workloadOf } from '../../../src/catalogue/workloads/index.ts';
import { urlWorkload } from '../../../src/catalogue/workloads/url.ts';
import type { UrlRequest } from '../../../src/model.ts';
import { errorOf } from '../../samples.ts';

const drawOf = (request: UrlRequest) => urlWorkload(request).draw(Math.random, {});

const folder = mkdtempSync(join(tmpdir(), 'bench-url-'));
afterAll(() => rmSync(folder, { recursive: true }));

const URL_TO = { url: 'http://127.0.0.1:3000/orders?page=2', method: 'GET', headers: { authorization: 'x' } };

const check = (expected: string | undefined, status: number, body: string) =>
  drawOf({ ...URL_TO, ...(expected === undefined ? {} : { expect: expected }) }).check(
    { status, contentType: '', body: Buffer.from(body) },
    0,
  );

describe('urlWorkload', () => {
  it('asks for path and query, with the headers', () => {
    expect(drawOf(URL_TO)).toMatchObject({
      requests: [{ method: 'GET', path: '/orders?page=2', headers: { authorization: 'x' } }],
      files: {},
      fixedBody: false,
    });
    expect(drawOf(URL_TO).requests[0]).not.toHaveProperty('body');
  });

  it('sends a body as JSON, unless a header says otherwise, and from a file by @', () => {
    const file = join(folder, 'order.json');
    writeFileSync(file, '{"n":1}');
    const [request] = drawOf({ ...URL_TO, method: 'POST', body: `@${file}` }).requests;
    expect(request).toMatchObject({
      body: '{"n":1}',
      headers: { 'content-type': 'application/json', authorization: 'x' },
    });
    const text = drawOf({ ...URL_TO, body: 'n=1', headers: { 'content-type': 'text/plain' } }).requests[0];
    expect(text).toMatchObject({ body: 'n=1', headers: { 'content-type': 'text/plain' } });
  });

  it.each(['body', 'expect'] as const)('says when the file of --%s cannot be read', (flag) => {
    const file = join(folder, 'none.json');
    expect(errorOf(() => drawOf({ ...URL_TO, [flag]: `@${file}` }))).toMatchObject({
      code: 'usage',
      message: `--${flag} @${file}: the file cannot be read`,
    });
  });

  it('takes any 2xx for right where nothing is expected', () => {
    for (const status of [200, 201, 204, 299]) expect(check(undefined, status, 'whatever')).toBeUndefined();
    for (const status of [199, 301, 404, 500])
      expect(check(undefined, status, 'no')).toBe(`status ${status}: no`);
  });

  it('takes 304 for right where the request is conditional, and only there', () => {
    const unchanged = { status: 304, contentType: '', body: Buffer.alloc(0) };
    for (const name of ['if-none-match', 'If-Modified-Since']) {
      const conditional = drawOf({ ...URL_TO, headers: { [name]: 'x' } });
      expect(conditional.check(unchanged, 0)).toBeUndefined();
    }
    expect(drawOf(URL_TO).check(unchanged, 0)).toMatch(/^status 304/);
  });

  it('takes the expected text for right, or JSON that is equal to it', () => {
    expect(check('plain', 200, 'plain')).toBeUndefined();
    expect(check('{"a":1,"b":2}', 200, '{ "b": 2, "a": 1 }')).toBeUndefined();
    expect(check('{"a":1}', 200, '{"a":2}')).toBe('the body differs from --expect: {"a":2}');
    expect(check('plain', 200, 'other')).toBe('the body differs from --expect: other');
    expect(check('plain', 500, 'plain')).toBe('status 500: plain');
    expect(drawOf({ ...URL_TO, expect: 'x' }).fixedBody).toBe(true);
  });

  it('keeps the digests of its texts, and refuses a file that has changed since the plan', () => {
    const file = join(folder, 'changing.json');
    writeFileSync(file, '{"n":1}');
    const request = { ...URL_TO, body: `@${file}`, expect: '{"ok":true}' };
    const { digests } = urlWorkload(request);
    expect(digests).toEqual({
      body: createHash('sha256').update('{"n":1}').digest('hex'),
      expect: createHash('sha256').update('{"ok":true}').digest('hex'),
    });
    expect(urlWorkload({ ...request, digests }).digests).toEqual(digests);
    writeFileSync(file, '{"n":2}');
    expect(errorOf(() => urlWorkload({ ...request, digests }))).toMatchObject({
      code: 'usage',
      message: `--body @${file}: the file has changed since the run began`,
    });
  });

  it('has no parameter, fixture, database or waiting time of another workload', () => {
    const workload = workloadOf({ workload: 'wait', url: URL_TO });
    expect(workload.name).toBe('url');
    for (const field of ['params', 'fixtures', 'stores', 'waitSeconds', 'barrierSeconds'])
      expect(workload).not.toHaveProperty(field);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { attachServer, drawUrl } from '../../src/measure/url.ts';
import { errorOf } from '../samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-url-'));
afterAll(() => rmSync(folder, { recursive: true }));

const URL_TO = { url: 'http://127.0.0.1:3000/orders?page=2', method: 'GET', headers: { authorization: 'x' } };

const check = (expected: string | undefined, status: number, body: string) =>
  drawUrl({ ...URL_TO, ...(expected === undefined ? {} : { expect: expected }) }).check(
    { status, contentType: '', body: Buffer.from(body) },
    0,
  );

describe('drawUrl', () => {
  it('asks for path and query, with the headers', () => {
    expect(drawUrl(URL_TO)).toMatchObject({
      requests: [{ method: 'GET', path: '/orders?page=2', headers: { authorization: 'x' } }],
      files: {},
      fixedBody: false,
    });
    expect(drawUrl(URL_TO).requests[0]).not.toHaveProperty('body');
  });

  it('sends a body as JSON, unless a header says otherwise, and from a file by @', () => {
    const file = join(folder, 'order.json');
    writeFileSync(file, '{"n":1}');
    const [request] = drawUrl({ ...URL_TO, method: 'POST', body: `@${file}` }).requests;
    expect(request).toMatchObject({
      body: '{"n":1}',
      headers: { 'content-type': 'application/json', authorization: 'x' },
    });
    const text = drawUrl({ ...URL_TO, body: 'n=1', headers: { 'content-type': 'text/plain' } }).requests[0];
    expect(text).toMatchObject({ body: 'n=1', headers: { 'content-type': 'text/plain' } });
  });

  it.each(['body', 'expect'] as const)('says when the file of --%s cannot be read', (flag) => {
    const file = join(folder, 'none.json');
    expect(errorOf(() => drawUrl({ ...URL_TO, [flag]: `@${file}` }))).toMatchObject({
      code: 'usage',
      message: `--${flag} @${file}: the file cannot be read`,
    });
  });

  it('takes any 2xx for right where nothing is expected', () => {
    for (const status of [200, 201, 204, 299]) expect(check(undefined, status, 'whatever')).toBeUndefined();
    for (const status of [199, 301, 404, 500])
      expect(check(undefined, status, 'no')).toBe(`status ${status}: no`);
  });

  it('takes the expected text for right, or JSON that is equal to it', () => {
    expect(check('plain', 200, 'plain')).toBeUndefined();
    expect(check('{"a":1,"b":2}', 200, '{ "b": 2, "a": 1 }')).toBeUndefined();
    expect(check('{"a":1}', 200, '{"a":2}')).toBe('the body is not what --expect says: {"a":2}');
    expect(check('plain', 200, 'other')).toBe('the body is not what --expect says: other');
    expect(check('plain', 500, 'plain')).toBe('status 500: plain');
    expect(drawUrl({ ...URL_TO, expect: 'x' }).fixedBody).toBe(true);
  });
});

describe('attachServer', () => {
  it('keeps its hands off a server that somebody else runs', async () => {
    const listener = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    let stopped = false;
    const server = await attachServer(
      { ...URL_TO, url: `http://localhost:${port}/`, pid: 4711 },
      () => stopped,
    );
    expect([server.host, server.port, server.pid(), server.startedAtMs]).toEqual([
      '127.0.0.1',
      port,
      4711,
      undefined,
    ]);
    expect(await server.stop()).toEqual({ files: [], trouble: [] });
    expect(listener.listening).toBe(true);
    expect(server.ended()).toBeUndefined();
    stopped = true;
    expect(server.ended()).toBe('interrupted');
    listener.close();
    await once(listener, 'close');
    const attempt = attachServer({ ...URL_TO, url: `http://127.0.0.1:${port}/` }, () => false);
    await expect(attempt).rejects.toMatchObject({
      code: 'usage',
      message: `nothing listens on 127.0.0.1:${port}`,
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { Answer } from 'bench-targets/catalogue/workloads/workload';
import { cureFor } from '../../src/conduct/cures.ts';

const named = { command: '--run', words: ['node', 'server.js', '--port', '{port}'] };
const request = { method: 'GET', path: '/orders', headers: {} };

function cureAnswer(status: number, headers: Answer['headers'] = {}, change = {}): string {
  const answer = { status, contentType: '', body: Buffer.alloc(0), headers };
  return cureFor({ kind: 'wrong-answer', request, answer }, { ...named, ...change });
}

describe('cureFor', () => {
  it.each([
    ['exit status 3: Error: no DATABASE_URL', 'To start it by hand: PORT=8000 node server.js --port 8000'],
    ['exit status 1: Error: listen EADDRINUSE: address already in use :::8123', 'its port is taken'],
    ['exit status 0', 'it must stay in the foreground'],
    ["exit status 1: RuntimeError: Folder './dist/web' does not exist", 'create ./dist/web first'],
    ["exit status 1: ViteError: Executable 'bun' not found.", 'install bun, and put it on PATH'],
    ['exit status 127: sh: 1: nx: not found', 'install nx, and put it on PATH'],
    ['exit status 1: Error: spawn ffmpeg ENOENT', 'install ffmpeg, and put it on PATH'],
    ['exit status 1: Error: relation "orders" does not exist', 'its last lines say why'],
  ])('explains a server that ended with "%s"', (end, words) => {
    expect(cureFor({ kind: 'ended', end }, named)).toContain(words);
  });

  it('tells a port that is missing in the command from one that the server ignores', () => {
    expect(cureFor({ kind: 'other-port', namesPort: false }, named)).toMatch(
      /^pass \{port\} in --run, e\.g\./,
    );
    expect(cureFor({ kind: 'other-port', namesPort: true }, named)).toMatch(/^write \{port\} in --run where/);
  });

  it.each([
    [
      404,
      {},
      'name a path that it serves: --get /orders; if this response is right, expect it in a file of requests: "expect": { "status": 404 }',
    ],
    [401, {}, "--header 'authorization: Bearer …'"],
    [405, { allow: 'PUT, POST' }, "--request 'PUT /orders'"],
    [422, {}, 'correct the request as its response says: --header, --body'],
    [429, {}, 'switch off its rate limit'],
    [500, {}, 'its last lines may say why'],
    [
      200,
      {},
      'if this response is right, expect its status, its body or a JSON Schema of it in a file of requests: "expect"',
    ],
    [
      301,
      { location: '/orders/' },
      'request the target of the redirect: --get /orders/; to measure the redirect',
    ],
    [308, { location: 'http://localhost:1/x?y=1' }, '--get /x?y=1'],
    [
      307,
      { location: 'https://127.0.0.1:8000/orders' },
      "it redirects to https: --header 'x-forwarded-proto: https'",
    ],
    [302, {}, 'if this response is right, expect it'],
  ])('names what to type against status %i with %o', (status, headers, words) => {
    expect(cureAnswer(status, headers)).toContain(words);
  });

  it('names the file of the requests, and the workload of Bench', () => {
    expect(cureAnswer(404, {}, { requests: 'shop.json' })).toMatch(/^correct the requests in shop\.json;/);
    expect(cureAnswer(404, {}, { workload: 'devices' })).toMatch(/^the workload devices needs this response/);
  });

  it('says TLS as the user named the server', () => {
    const ofManifest = { ...named, https: { on: 'add "scheme"', off: 'remove "scheme"' } };
    expect(cureFor({ kind: 'tls' }, named)).toContain('stack.json with init');
    expect(cureFor({ kind: 'no-tls' }, named)).toContain('remove "scheme"');
    expect(cureFor({ kind: 'tls' }, ofManifest)).toBe('add "scheme"');
    expect(cureFor({ kind: 'no-tls' }, ofManifest)).toBe('remove "scheme"');
  });
});

/** Servers that fail before their first trial, from the command line: each failure has its own words. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, Place } from './cli.ts';

const SERVER = `
const { createServer } = require('node:http');
const orders = new Set();
createServer((request, response) => {
  const answer = (status, body = '', headers = {}) => response.writeHead(status, headers).end(body);
  if (request.url === '/old') return answer(301, '', { location: '/new' });
  if (request.method === 'GET') return answer(404, 'no such page');
  request.on('data', () => {}).on('end', () => {
    if (orders.size > 0) return answer(409, 'it exists');
    orders.add(1);
    answer(201, 'made');
  });
}).listen(process.env.PORT, '127.0.0.1');
`;

const FAILURES: [
  what: string,
  options: Record<string, string>,
  server: string,
  words: string,
  cure: string,
][] = [
  [
    'answers with 404',
    { get: '/orders' },
    SERVER,
    'shop starts, but its response is wrong: GET http://127.0.0.1:PORT/orders: status 404: no such page\n',
    'name a path that it serves: --get /orders; if this response is right, expect it in a file of requests: "expect": { "status": 404 }',
  ],
  [
    'redirects',
    { get: '/old' },
    SERVER,
    'shop starts, but its response is wrong: GET http://127.0.0.1:PORT/old: status 301 to /new\n',
    'request the target of the redirect: --get /new; to measure the redirect itself: "expect": { "status": 301 } in a file of requests',
  ],
  [
    'accepts a request only once',
    { request: 'POST /orders', body: '{}' },
    SERVER,
    'shop starts, but accepts the request only once: POST /orders before the load: status 409: it exists\n',
    'make each request unique: {uuid} or {seq}',
  ],
  [
    'ends',
    { get: '/' },
    `throw new Error('no DATABASE_URL')`,
    'shop does not start: the server ended before it responded (exit status 1: Error: no DATABASE_URL)\n',
    'To start it by hand: PORT=8000 node server.cjs',
  ],
];

describe('a server that fails at the start', () => {
  it.each(FAILURES)('is explained if it %s', async (_what, given, server, words, cure) => {
    await using place = new Place();
    const app = join(place.folder, 'shop');
    mkdirSync(app);
    writeFileSync(join(app, 'server.cjs'), server);
    const options = at(app, { run: 'node server.cjs', connections: 1, rounds: 1, ...given });
    const { status, stderr } = await place.run('bench', options);
    expect(stderr.replaceAll(/(127\.0\.0\.1):\d+/g, '$1:PORT')).toContain(`error: ${words}`);
    expect(stderr).toContain(cure);
    expect(stderr).not.toContain('correct --run');
    expect(status).toBe(1);
    expect(place.trials()).toEqual([]);
  });
});

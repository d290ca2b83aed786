import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { OkTrial } from 'bench-model/record';
import { at, Place } from './cli.ts';

const ORDER = '{"item":"tea","count":2}';
const FEW = { connections: 2, rounds: 1, warmup: 0, amount: 40 };

/** A running server, and its requests so far. */
interface Shop extends AsyncDisposable {
  url: string;
  /** The number of requests, by method, path, headers and body. */
  received: Map<string, number>;
}

describe('a server that is already running', () => {
  it('gets the request, and is compared with the expected response, and sampled', async () => {
    await using place = new Place();
    await using shop = await openShop();
    writeFileSync(join(place.folder, 'order.json'), ORDER);
    // The same value: the order of keys and white space do not matter.
    writeFileSync(join(place.folder, 'answer.json'), '{ "total": 7, "ok": true }\n');
    const asked = {
      request: 'POST /orders',
      body: `@${join(place.folder, 'order.json')}`,
      expect: { body: `@${join(place.folder, 'answer.json')}` },
    };
    const options = { 'requests-file': writeRequests(place, asked), header: 'authorization: let me in' };
    const { status, stdout, stderr } = await place.run('bench', [
      ...at(new URL(shop.url).origin, { ...options, ...FEW }),
      '--detail',
    ]);
    expect(stdout).toMatch(/^POST \/orders, 1 round/m);
    expect(stdout).not.toMatch(/devices|server on core|workers? a server/);
    expect(stdout).toContain(`already running, process ${process.pid}, node ${process.version}`);
    expect(stderr).toMatch(/\[1\/1\] POST http:\/\/127\.0\.0\.1:\d+\/orders at 2, round 1: (ok|suspect)/);
    expect(stdout).toContain(`POST ${shop.url}`);
    expect(status).toBe(0);
    const [trial] = place.trials();
    const [[request, count] = ['nothing', 0], ...others] = shop.received;
    expect(request).toBe(`POST /orders application/json let me in ${ORDER}`);
    expect(others).toEqual([]);
    expect(trial).toMatchObject({
      workload: 'requests',
      requests: {
        requests: [
          {
            method: 'POST',
            path: '/orders',
            headers: ['authorization'],
            bodySha256: createHash('sha256').update(ORDER).digest('hex'),
          },
        ],
      },
      process: { pid: process.pid, version: `node ${process.version}` },
      measured: { load: { counts: { sent: 40, ok: 40 } } },
    });
    expect(count).toBeGreaterThan(40);
    expect(trial).toHaveProperty('measured.server.cpuUserUs');
    expect(trial).not.toHaveProperty('time');
  });

  it('fails its trial if the response differs from the expected one, and is not stopped', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const request = { request: 'PUT /orders', expect: { body: '{"total":8,"ok":true}' } };
    const options = { 'requests-file': writeRequests(place, request) };
    const { status, stderr } = await place.run('bench', at(new URL(shop.url).origin, { ...options, ...FEW }));
    expect(stderr).toMatch(
      /: failed — PUT http:\/\/127\.0\.0\.1:\d+\/orders: the body differs from the expected one: \{"ok":true,"total":7\}$/m,
    );
    expect(status).toBe(1);
    expect((await fetch(shop.url)).status).toBe(200);
  });

  it('is found by its port, also on an IPv6 address', async () => {
    await using place = new Place();
    await using shop = await openShop('::1');
    const { status, stderr } = await place.run('bench', at(shop.url, FEW));
    expect(stderr).toMatch(/\[1\/1\] GET http:\/\/\[::1\]:\d+\/orders at 2, round 1: (ok|suspect)/);
    expect(status).toBe(0);
    const [trial] = place.trials();
    expect(trial).toMatchObject({
      process: { pid: process.pid },
      measured: { load: { counts: { ok: 40 } } },
    });
    expect(trial).toHaveProperty('measured.server.cpuUserUs');
  });

  it('is described by the statuses of its responses if they are not all 200', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const options = { header: 'if-none-match: "7"' };
    const { status, stdout } = await place.run('bench', at(shop.url, { ...options, ...FEW }));
    const { load } = (place.trials()[0] as OkTrial).measured;
    expect(load.statusCodes).toEqual({ 304: load.counts.ok });
    expect(stdout).toMatch(
      new RegExp(
        `^  Statuses: GET .* at 2: all ${load.counts.ok} responses had status 304\\.\n {2}304 has no body:`,
        'm',
      ),
    );
    expect(status).toBe(0);
  });

  it('fails its trial if its correct response changes, and says when and where', async () => {
    await using place = new Place();
    // Once it is asked, first by itself and then for the trial, the load changes its response.
    await using shop = await openShop('127.0.0.1', (count) => `{"ok":true,"total":${count > 20 ? 8 : 7}}`);
    const { status, stderr } = await place.run('bench', at(shop.url, FEW));
    expect(stderr).toMatch(
      /: failed — GET \/orders: the correct response after the load differs from that before it, \d+\.\d s earlier: from byte 20 on, "\{"ok":true,"total":8\}" instead of "\{"ok":true,"total":7\}"\. If it may differ: "expect": \{ "status": 200 \} of that request in stack\.json$/m,
    );
    expect(status).toBe(1);
  });

  it('fails its trial soon if it has no such page', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const { status, stderr } = await place.run('bench', at(`${shop.url}/nowhere`, FEW));
    expect(stderr).toContain(`: failed — GET ${shop.url}/nowhere: status 404: no such page\n`);
    expect(status).toBe(1);
  });
});

/** Writes a file with one request, and returns its path. */
function writeRequests({ folder }: Place, request: object): string {
  const file = join(folder, 'requests.json');
  writeFileSync(file, JSON.stringify({ requests: [request] }));
  return file;
}

/** `answer` gives the body of each correct response by its number. */
async function openShop(
  address = '127.0.0.1',
  answer: (count: number) => string = () => '{"ok":true,"total":7}',
): Promise<Shop> {
  let count = 0;
  const received = new Map<string, number>();
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      const words = `${method} ${url} ${headers['content-type']} ${headers.authorization} ${body}`;
      received.set(words, (received.get(words) ?? 0) + 1);
      if (url !== '/orders') response.writeHead(404).end('no such page');
      else if (headers['if-none-match'] !== undefined) response.writeHead(304).end();
      else response.end(answer(++count));
    });
  });
  await new Promise((resolve) => {
    server.listen(0, address, () => resolve(undefined));
  });
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${(server.address() as AddressInfo).port}/orders`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

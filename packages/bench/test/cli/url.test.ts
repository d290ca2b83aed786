import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { start } from 'bench-machine/subprocess';
import { Place, flags } from './cli.ts';

const ORDER = '{"item":"tea","count":2}';
const FEW = { connections: 2, rounds: 1, warmup: 0, amount: 40 };

/** A running server, and its requests so far. */
interface Shop extends AsyncDisposable {
  url: string;
  /** The number of requests, by method, path, headers and body. */
  asked: Map<string, number>;
}

describe('--url: a server that is already running', () => {
  it('gets the request, and is compared with --expect and sampled by --pid', async () => {
    await using place = new Place();
    await using shop = await openShop();
    writeFileSync(join(place.folder, 'order.json'), ORDER);
    // The same value: the order of keys and white space do not matter.
    writeFileSync(join(place.folder, 'answer.json'), '{ "total": 7, "ok": true }\n');
    const options = {
      url: shop.url,
      body: `@${join(place.folder, 'order.json')}`,
      header: 'authorization: let me in',
      expect: `@${join(place.folder, 'answer.json')}`,
      pid: process.pid,
    };
    const { status, stdout, stderr } = await place.run('bench', flags({ ...options, ...FEW }));
    expect(stdout).toMatch(/^POST \/orders, 1 round/m);
    expect(stdout).not.toMatch(/devices|server on core|workers? a server/);
    expect(stdout).toContain(`already running, process ${process.pid}, node ${process.version}`);
    expect(stderr).toMatch(/\[1\/1\] POST http:\/\/127\.0\.0\.1:\d+\/orders at 2, round 1: (ok|suspect)/);
    expect(stdout).toContain(`POST ${shop.url}`);
    expect(status).toBe(0);
    const [trial] = place.trials();
    const [[asked, count] = ['nothing', 0], ...others] = shop.asked;
    expect(asked).toBe(`POST /orders application/json let me in ${ORDER}`);
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

  it('fails its trial if the answer differs from --expect, and is not stopped', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const options = { url: shop.url, method: 'put', expect: '{"total":8,"ok":true}' };
    const { status, stderr } = await place.run('bench', flags({ ...options, ...FEW }));
    expect(stderr).toMatch(
      /: failed — PUT http:\/\/127\.0\.0\.1:\d+\/orders: the body differs from the expected one: \{"ok":true,"total":7\}$/m,
    );
    expect(status).toBe(1);
    expect((await fetch(shop.url)).status).toBe(200);
  });

  it('is found by its port, also on an IPv6 address', async () => {
    await using place = new Place();
    await using shop = await openShop('::1');
    const { status, stderr } = await place.run('bench', flags({ url: shop.url, ...FEW }));
    expect(stderr).toMatch(/\[1\/1\] GET http:\/\/\[::1\]:\d+\/orders at 2, round 1: (ok|suspect)/);
    expect(status).toBe(0);
    const [trial] = place.trials();
    expect(trial).toMatchObject({
      process: { pid: process.pid },
      measured: { load: { counts: { ok: 40 } } },
    });
    expect(trial).toHaveProperty('measured.server.cpuUserUs');
  });

  it('refuses a process that does not listen there before it measures anything', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const stranger = start({ stdio: 'ignore' })`exec sleep 60`;
    const wrong = stranger.pid ?? 0;
    const { status, stderr } = await place.run('bench', flags({ url: shop.url, pid: wrong, ...FEW }));
    stranger.kill('SIGKILL');
    expect(status).toBe(2);
    expect(stderr).toContain(`--pid ${wrong}: process ${wrong} does not listen on port`);
    expect(place.trials()).toEqual([]);
  });

  it('fails its trial soon if it has no such page', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const { status, stderr } = await place.run('bench', flags({ url: `${shop.url}/nowhere`, ...FEW }));
    expect(stderr).toContain(`: failed — GET ${shop.url}/nowhere: status 404: no such page\n`);
    expect(status).toBe(1);
  });
});

async function openShop(address = '127.0.0.1'): Promise<Shop> {
  const asked = new Map<string, number>();
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      const words = `${method} ${url} ${headers['content-type']} ${headers.authorization} ${body}`;
      asked.set(words, (asked.get(words) ?? 0) + 1);
      response.statusCode = url === '/orders' ? 200 : 404;
      response.end(url === '/orders' ? '{"ok":true,"total":7}' : 'no such page');
    });
  });
  await new Promise((resolve) => {
    server.listen(0, address, () => resolve(undefined));
  });
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${(server.address() as AddressInfo).port}/orders`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

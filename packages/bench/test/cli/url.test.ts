import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Place, flags } from './cli.ts';

const ORDER = '{"item":"tea","count":2}';
const FEW = { connections: 2, rounds: 1, warmup: 0, amount: 40 };

/** A server that somebody runs, and what it was asked. */
interface Shop extends AsyncDisposable {
  url: string;
  /** How many requests came, by what they were. */
  asked: Map<string, number>;
}

describe('--url: a server that is already running', () => {
  it('is sent what was said, compared with --expect, and watched by --pid', async () => {
    await using place = new Place();
    await using shop = await openShop();
    writeFileSync(join(place.folder, 'order.json'), ORDER);
    // The same value: neither the order of keys nor white space is part of an answer.
    writeFileSync(join(place.folder, 'answer.json'), '{ "total": 7, "ok": true }\n');
    const options = {
      url: shop.url,
      body: `@${join(place.folder, 'order.json')}`,
      header: 'authorization: let me in',
      expect: `@${join(place.folder, 'answer.json')}`,
      pid: process.pid,
    };
    const { status, stdout, stderr } = await place.run('bench', flags({ ...options, ...FEW }));
    expect(stderr).toMatch(/\[1\/1\] POST http:\/\/127\.0\.0\.1:\d+\/orders at 2, round 1: (ok|suspect)/);
    expect(stdout).toContain(`POST ${shop.url}`);
    expect(status).toBe(0);
    const [trial] = place.trials();
    const [[asked, count] = ['nothing', 0], ...others] = shop.asked;
    expect(asked).toBe(`POST /orders application/json let me in ${ORDER}`);
    expect(others).toEqual([]);
    expect(trial).toMatchObject({ measured: { load: { counts: { sent: 40, ok: 40 } } } });
    expect(count).toBeGreaterThan(40);
    expect(trial).toHaveProperty('measured.server.cpuUserUs');
    expect(trial).not.toHaveProperty('time');
  });

  it('fails its trial when it answers other than --expect, and is not stopped', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const options = { url: shop.url, method: 'put', expect: '{"total":8,"ok":true}' };
    const { status, stderr } = await place.run('bench', flags({ ...options, ...FEW }));
    expect(stderr).toMatch(
      /: failed — PUT \/orders: the body is not what --expect says: \{"ok":true,"total":7\}$/m,
    );
    expect(status).toBe(1);
    expect((await fetch(shop.url)).status).toBe(200);
  });

  it('fails its trial soon when it has no such page', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const { status, stderr } = await place.run('bench', flags({ url: `${shop.url}/nowhere`, ...FEW }));
    expect(stderr).toMatch(/: failed — no right answer within \d s: status 404: no such page$/m);
    expect(status).toBe(1);
  });
});

async function openShop(): Promise<Shop> {
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
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

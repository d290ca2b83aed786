import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { BareClient } from '../src/bare.ts';

const DELAY_MS = 5;
const TURN = { rampSeconds: 0, windowSeconds: 0.05 };

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Starts a server that answers after a delay, or closes the connection. */
async function open({ connections, closes = false }: { connections: number; closes?: boolean }) {
  const seen = { requests: 0, open: 0, most: 0 };
  server = createServer((request, response) => {
    seen.requests++;
    seen.most = Math.max(seen.most, ++seen.open);
    setTimeout(() => {
      seen.open--;
      if (closes) request.socket.destroy();
      else response.setHeader('content-length', 2).end('ok');
    }, DELAY_MS);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return { seen, client: await BareClient.open({ host: '127.0.0.1', port, path: '/', connections }) };
}

describe('a bare client', () => {
  it('has one request open on each connection, and measures at least the delay of the server', async () => {
    const { seen, client } = await open({ connections: 3 });
    using _ = client;
    // Timers may fire up to 1 ms early.
    expect(await client.takePercentile(50, TURN)).toBeGreaterThanOrEqual((DELAY_MS - 1) * 1000);
    // A busy machine may read a request only when the answer before it has left.
    for (let turn = 1; seen.most < 3 && turn < 20; turn++) await client.takePercentile(50, TURN);
    expect(seen.most).toBe(3);
  });

  it('sends at most at its rate if it has one, and ends with its last answer', async () => {
    const { seen, client } = await open({ connections: 3 });
    using _ = client;
    const paced = { rampSeconds: 0, windowSeconds: 0.2, perSecond: 100 };
    expect(await client.takePercentile(50, paced)).toBeGreaterThanOrEqual((DELAY_MS - 1) * 1000);
    expect(seen.requests).toBeGreaterThan(0);
    expect(seen.requests).toBeLessThanOrEqual(20);
    expect(seen.open).toBe(0);
  });

  it('sends nothing before and between its turns', async () => {
    const { seen, client } = await open({ connections: 2 });
    using _ = client;
    expect(seen.requests).toBe(0);
    await client.takePercentile(50, TURN);
    expect(seen.open).toBe(0);
    const between = seen.requests;
    await client.takePercentile(50, TURN);
    expect(seen.requests).toBeGreaterThan(between);
  });

  it('fails if the server closes a connection', async () => {
    const { client } = await open({ connections: 2, closes: true });
    using _ = client;
    await expect(client.takePercentile(50, TURN)).rejects.toThrow(/closed a bare connection|ECONNRESET/);
  });
});

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Rival } from '../src/rival.ts';

const CONNECTIONS = 4;

describe.each(['stock', 'plain'] as const)('a rival in turns: %s', (name) => {
  it('sends only in its turns, and counts what the server answered', async () => {
    let received = 0;
    const server = createServer((_, response) => {
      received++;
      response.end('ok');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await using rival = new Rival(name, { generator: [] }, `http://127.0.0.1:${port}/`, CONNECTIONS);
      await rival.arm(20);
      const quiet = async () => {
        let before = -1;
        while (received !== before) {
          before = received;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return received;
      };
      const before = await quiet();
      const { answers, cpuUs } = await rival.take(0.2);
      const after = await quiet();
      expect(answers).toBeGreaterThan(0);
      expect(cpuUs).toBeGreaterThan(0);
      // The server also answers before the turn counts and, once per connection, after it.
      expect(answers).toBeLessThanOrEqual(after - before);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('fails if nothing answers', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await using rival = new Rival(name, { generator: [] }, `http://127.0.0.1:${port}/`, CONNECTIONS);
      await expect(rival.arm(0.5)).rejects.toThrow('has not connected after 0.5 s');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

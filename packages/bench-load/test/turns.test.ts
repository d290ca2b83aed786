import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createFleetEngine } from '../src/fleet.ts';

const GENERATOR = fileURLToPath(new URL('../src/generator.ts', import.meta.url));

it('a short turn lasts no longer than it took if most connections do not get their turn in it', async () => {
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const engine = createFleetEngine({
    name: 'autocannon',
    argv: [process.execPath, GENERATOR],
    takesTurns: true,
  });
  await using session = engine.open(
    {
      host: '127.0.0.1',
      port,
      requests: [{ method: 'GET', path: '/', headers: {} }],
      connections: 10,
      timeoutSeconds: 5,
      barrierSeconds: 5,
      expected: undefined,
      spreadSeconds: 2,
      hashEvery: 1,
    },
    1,
  );
  await session.arm();
  const began = performance.now();
  const turn = await session.turns?.take({ rampSeconds: 0, windowSeconds: 0.02 });
  const tookSeconds = (performance.now() - began) / 1000;
  server.close();
  expect(turn?.answers).toBeGreaterThan(0);
  expect(turn?.seconds).toBeLessThanOrEqual(tookSeconds);
});

import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createFleetEngine } from '../src/fleet.ts';
import type { LoadSpec } from '../src/protocol.ts';

const GENERATOR = fileURLToPath(new URL('../src/generator.ts', import.meta.url));
const server = createServer((_, response) => response.end('ok'));
const engine = createFleetEngine({
  name: 'autocannon',
  argv: [process.execPath, GENERATOR],
  takesTurns: true,
});
let spec: LoadSpec;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  spec = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    requests: [{ method: 'GET', path: '/', headers: {} }],
    connections: 10,
    timeoutSeconds: 5,
    barrierSeconds: 5,
    expected: undefined,
    spreadSeconds: 2,
    hashEvery: 1,
  };
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

it('a short turn lasts no longer than it took if most connections do not get their turn in it', async () => {
  await using session = engine.open(spec, 1);
  await session.arm();
  const began = performance.now();
  const turn = await session.turns?.take({ rampSeconds: 0, windowSeconds: 0.02 });
  const tookSeconds = (performance.now() - began) / 1000;
  expect(turn?.answers).toBeGreaterThan(0);
  expect(turn?.seconds).toBeLessThanOrEqual(tookSeconds);
});

it.runIf(process.platform === 'linux')('sessions beside each other leave no open file behind', async () => {
  await using first = engine.open(spec, 1);
  await first.arm();
  const countOpen = (): number => readdirSync(`/proc/${first.pids[0]}/fd`).length;
  const before = countOpen();
  for (let count = 0; count < 3; count++) {
    const other = first.beside!(spec);
    await other.arm();
    expect(countOpen()).toBeGreaterThanOrEqual(before + spec.connections);
    await other.leave?.();
  }
  await vi.waitFor(() => expect(countOpen()).toBe(before));
});

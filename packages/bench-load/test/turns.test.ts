import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openSession, toSpec } from './session.ts';

const LOAD = { requests: [{ method: 'GET', path: '/', headers: {} }], connections: 10, spreadSeconds: 2 };
const server = createServer((_, response) => response.end('ok'));
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

it('a short turn lasts no longer than it took if most connections do not get their turn in it', async () => {
  await using session = openSession(server, LOAD, true);
  await session.arm();
  const began = performance.now();
  const turn = await session.turns?.take({ rampSeconds: 0, windowSeconds: 0.02 });
  const tookSeconds = (performance.now() - began) / 1000;
  expect(turn?.answers).toBeGreaterThan(0);
  expect(turn?.seconds).toBeLessThanOrEqual(tookSeconds);
});

it.runIf(process.platform === 'linux')('sessions beside each other leave no open file behind', async () => {
  await using first = openSession(server, LOAD, true);
  await first.arm();
  const countOpen = (): number => readdirSync(`/proc/${first.pids[0]}/fd`).length;
  const before = countOpen();
  for (let count = 0; count < 3; count++) {
    const other = first.beside!(toSpec(server, LOAD));
    await other.arm();
    expect(countOpen()).toBeGreaterThanOrEqual(before + LOAD.connections);
    await other.leave?.();
  }
  await vi.waitFor(() => expect(countOpen()).toBe(before));
});

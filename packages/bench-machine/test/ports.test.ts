import { createServer, type AddressInfo } from 'node:net';
import { uptime } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { findFreePort, isListening, isTakenFromOutside } from '../src/ports.ts';

async function takeOf(part: string): Promise<number[]> {
  vi.stubEnv('BENCH_PORTS', part);
  try {
    return await Promise.all(Array.from({ length: 20 }, () => findFreePort()));
  } finally {
    vi.unstubAllEnvs();
  }
}

describe('findFreePort', () => {
  it('returns a free port outside the range of outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => findFreePort()));
    for (const port of ports) {
      expect(port).toBeGreaterThanOrEqual(20_000);
      expect(port).toBeLessThan(32_768);
      expect(await isListening('127.0.0.1', port)).toBe(false);
    }
  });

  it('returns ports of different parts of the range to harnesses that run at the same time', async () => {
    const [first, second, last] = [await takeOf('1/3'), await takeOf('2/3'), await takeOf('3/3')];
    expect(Math.max(...first)).toBeLessThan(Math.min(...second));
    expect(Math.max(...second)).toBeLessThan(Math.min(...last));
    expect(Math.max(...last)).toBeLessThan(32_768);
  });
});

describe.runIf(process.platform === 'linux')('a port', () => {
  it('is taken from outside if its listener started before or after the span', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const now = uptime() + 1;
    expect(isTakenFromOutside(port, { from: now, to: now })).toBe(true);
    expect(isTakenFromOutside(port, { from: 0, to: 0 })).toBe(true);
    expect(isTakenFromOutside(port, { from: 0, to: now })).toBe(false);
    server.close();
  });

  it('that nobody holds is not', async () => {
    expect(isTakenFromOutside(await findFreePort(), { from: 0, to: 0 })).toBe(false);
  });
});

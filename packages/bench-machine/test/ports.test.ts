import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { findFreePort, isListening, haveListenersStarted } from '../src/ports.ts';
import { readProcess } from '../src/procfs.ts';

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
  it('tells when its listener started', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const begin = readProcess(process.pid)?.startTicks;
    expect(haveListenersStarted(port, (ticks) => ticks === begin)).toBe(true);
    expect(haveListenersStarted(port, (ticks) => ticks !== begin)).toBe(false);
    server.close();
  });

  it('that nobody holds has none', async () => {
    expect(haveListenersStarted(await findFreePort(), () => true)).toBe(false);
  });
});

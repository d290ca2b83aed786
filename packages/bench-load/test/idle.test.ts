/** A server that closes connections which have been idle, and one that only seems to. */
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ID } from 'bench-targets/catalogue/workloads/workload';
import type { LoadMode } from 'bench-model/settings';
import type { LoadResult } from 'bench-model/load';
import type { RequestSpec } from '../src/protocol.ts';
import { openSession } from './session.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
/** Each of four connections rests for 500 ms between its requests, but not before its first ones. */
const SLOW: LoadMode = { mode: 'open', perSecond: 8 };
const KEEP_ALIVE_MS = 250;
const GET: RequestSpec = { method: 'GET', path: '/', headers: {} };

/** Loads a server that takes each request like this; `number` counts those of a connection, from 1, and `silentMs` is the time since the last one. */
async function load(
  take: (socket: Socket, request: { number: number; silentMs: number; text: string }) => void,
  { mode = SLOW, request = GET }: { mode?: LoadMode; request?: RequestSpec } = {},
): Promise<LoadResult> {
  const server = createServer({ noDelay: true }, (socket) => {
    let number = 0;
    let beforeMs = performance.now();
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      const silentMs = performance.now() - beforeMs;
      beforeMs += silentMs;
      take(socket, { number: ++number, silentMs, text: piece.toString('latin1') });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using session = openSession(server, { requests: [request], connections: 4 });
  await session.arm();
  // A closed loop needs no time to see many requests.
  const windowSeconds = mode.mode === 'closed' ? 0.3 : 2.5;
  const result = await session.fire({ warmupSeconds: 0, windowSeconds, load: mode }, () => {});
  server.close();
  return result;
}

/** Expects that the outcomes of requests add up to those sent, in the window and in all. */
function expectExact({ counts, lifetime }: LoadResult): void {
  for (const { sent, ...rest } of [counts, lifetime ?? counts])
    expect(Object.values(rest).reduce((total, one) => total + one, 0)).toBe(sent);
}

describe('a connection that the server closed while it was idle', { concurrent: true }, () => {
  it('is no failure: the request that meets the close is sent again, once', async () => {
    const ids: string[] = [];
    const seen = await load(
      (socket, { silentMs, text }) => {
        const id = /id=(?<id>\S+)/.exec(text)?.groups?.['id'] ?? '';
        ids.push(id);
        if (silentMs > KEEP_ALIVE_MS) socket.end();
        else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id}`);
      },
      { request: { method: 'POST', path: '/', headers: {}, body: `id=${ID}` } },
    );
    expectExact(seen);
    expect(seen.lifetime).toMatchObject({ reset: 0, closedEarly: 0, timeout: 0 });
    expect(seen.lifetime?.ok).toBeGreaterThan(8);
    const { sentAgain = 0, leastSeconds = 0 } = seen.idleCloses ?? {};
    expect(sentAgain).toBeGreaterThan(4);
    expect(leastSeconds).toBeGreaterThanOrEqual(0.1);
    // The server saw each of these twice, and the same bytes both times.
    expect(ids.length - new Set(ids).size).toBe(sentAgain);
  });

  it('is counted if no request meets the close', async () => {
    const timers = new WeakMap<Socket, NodeJS.Timeout>();
    const seen = await load((socket) => {
      socket.write(OK);
      clearTimeout(timers.get(socket));
      timers.set(
        socket,
        setTimeout(() => socket.end(), KEEP_ALIVE_MS),
      );
    });
    expectExact(seen);
    expect(seen.lifetime).toMatchObject({ reset: 0, closedEarly: 0, timeout: 0 });
    expect(seen.idleCloses?.count).toBeGreaterThan(4);
  });
});

describe('a connection that was closed for another reason', { concurrent: true }, () => {
  it('fails its request if a new connection is closed without a response, too', async () => {
    let requests = 0;
    const seen = await load((socket, { number }) => {
      requests++;
      // Every connection answers once; the request after that fails on this one and on the next.
      if (number === 1 && requests % 3 !== 0) socket.write(OK);
      else socket.end();
    });
    expectExact(seen);
    expect(seen.lifetime?.closedEarly).toBeGreaterThan(0);
  });

  it('fails its request if it was busy', async () => {
    const seen = await load(
      (socket, { number }) => {
        if (number % 10 === 0) socket.end();
        else socket.write(OK);
      },
      { mode: { mode: 'closed' } },
    );
    expectExact(seen);
    expect(seen.counts.closedEarly).toBeGreaterThan(0);
    expect(seen.idleCloses?.sentAgain ?? 0).toBe(0);
  });

  it('fails its request if the response had begun', async () => {
    const seen = await load((socket, { number }) => {
      if (number === 1) socket.write(OK);
      else socket.end(OK.slice(0, 20));
    });
    expectExact(seen);
    expect(seen.counts.closedEarly).toBeGreaterThan(0);
    expect(seen.idleCloses?.sentAgain ?? 0).toBe(0);
  });
});

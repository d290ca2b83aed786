/** A server that closes each connection after its response, and stops listening under load. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Counts } from 'bench-model/figures';
import type { OwnLoadResult } from 'bench-model/load';
import type { LoadMode } from 'bench-model/settings';
import { sumOf } from '../../bench-lab/testing/samples.ts';
import { openSession } from './session.ts';

const LAST = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';
/** The requests that it answers. Before the load, a connection sends at most one in a second. */
const ANSWERS = 20;
const AMOUNT = 200;

describe('a connect that is refused under load', () => {
  it.each<[string, LoadMode, number, Partial<Counts>]>([
    ['an amount', { mode: 'amount', requests: AMOUNT }, 30, { sent: AMOUNT, inFlight: 0 }],
    ['a closed loop', { mode: 'closed' }, 0.5, {}],
    ['an open loop', { mode: 'open', perSecond: 400 }, 0.5, {}],
  ])('is a request that failed, in %s', async (_, load, windowSeconds, planned) => {
    let answers = 0;
    const server = createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => {
        if (++answers === ANSWERS) server.close();
        socket.end(LAST);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const requests = [{ method: 'GET', path: '/', headers: { connection: 'close' } }];
    await using session = openSession(server, { requests, connections: 1 });
    await session.arm();
    const window = { warmupSeconds: 0, windowSeconds, load };
    const { counts, lifetime } = (await session.fire(window, () => {})) as OwnLoadResult;
    expect(answers).toBe(ANSWERS);
    expect(lifetime).toMatchObject({ ok: ANSWERS, timeout: 0, closedEarly: 0, inFlight: 0 });
    for (const one of [counts, lifetime]) {
      expect(one.reset).toBeGreaterThan(0);
      expect(sumOf(one)).toBe(one.sent);
    }
    expect(counts).toMatchObject(planned);
  });
});

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { METRIC_IDS } from 'bench-model/metrics';
import { isFatal } from 'bench-model/reasons';
import type { BackgroundRequest } from 'bench-model/settings';
import { judgeBackground } from 'bench-analysis/judge/companions';
import { keepInFlight, type Background } from '../../../src/services/background/companion.ts';
import { sampleBackground } from '../../../../bench-lab/testing/samples.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

/** Keeps a request in flight to a server with this listener. `asked` lists the requests it received. */
async function disturb(
  answer: RequestListener,
  sent: BackgroundRequest = { method: 'GET', path: '/slow' },
): Promise<{ background: Background; received: string[] }> {
  const received: string[] = [];
  const own = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server = own;
  await new Promise<void>((resolve) => own.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const { port } = own.address() as AddressInfo;
  return {
    received,
    background: keepInFlight({ host: '127.0.0.1', port }, sent),
  };
}

describe('a request kept in flight', () => {
  it('is sent again when answered, and cancelled at the end by closing its connection', async () => {
    const left = vi.fn<() => void>();
    const sockets = new Set<unknown>();
    const { background, received } = await disturb((request, response) => {
      sockets.add(request.socket);
      if (received.length <= 7) response.end('{"fib":1}');
      else request.socket.once('close', left);
    });
    await vi.waitFor(() => expect(received).toHaveLength(8));
    const use = background.end();
    expect(use).toMatchObject({ sent: 8, statusCodes: { 200: 7 }, lost: 0, cancelled: 1 });
    expect(use.durationUs?.max).toBeGreaterThan(0);
    await vi.waitFor(() => expect(left).toHaveBeenCalledOnce());
    expect(background.end()).toBe(use);
    expect(received).toEqual(Array.from({ length: 8 }, () => 'GET /slow'));
    expect(sockets.size).toBe(1);
  });

  it('is counted by its status, or as lost if the response is incomplete', async () => {
    const { background, received } = await disturb((request, response) => {
      if (received.length === 1) response.writeHead(404).end();
      else if (received.length === 2) request.socket.destroy();
      else if (received.length === 3) {
        response.writeHead(200, { 'content-length': 10 }).write('half');
        request.socket.end();
      } else if (received.length === 4) response.writeHead(503).end('later');
    });
    await vi.waitFor(() => expect(received).toHaveLength(5));
    expect(background.end()).toMatchObject({
      sent: 5,
      statusCodes: { 404: 1, 503: 1 },
      lost: 2,
      cancelled: 1,
    });
  });

  it('has its body, as JSON', async () => {
    const bodies: string[] = [];
    const { background } = await disturb(
      async (request, response) => {
        const body = (await request.toArray()).join('');
        bodies.push(`${request.headers['content-type']} ${body}`);
        if (bodies.length === 1) response.end();
      },
      { method: 'POST', path: '/login', body: '{"user":"ada"}' },
    );
    await vi.waitFor(() => expect(bodies).toHaveLength(2));
    background.end();
    expect(new Set(bodies)).toEqual(new Set(['application/json {"user":"ada"}']));
  });

  it('has no duration if none was answered', async () => {
    const { background, received } = await disturb(() => {});
    await vi.waitFor(() => expect(received).toHaveLength(1));
    expect(background.end()).toEqual({
      seconds: expect.any(Number),
      sent: 1,
      statusCodes: {},
      lost: 0,
      cancelled: 1,
    });
  });
});

describe('the judge of a background request', () => {
  it.each([sampleBackground({ statusCodes: {} }), sampleBackground({ statusCodes: { 200: 9, 204: 1 } })])(
    'finds nothing wrong with %j',
    (given) => expect(judgeBackground(given)).toEqual([]),
  );

  it('finds that some requests failed, and fails the trial if none succeeded', () => {
    const some = judgeBackground(sampleBackground({ statusCodes: { 200: 7, 500: 2 }, lost: 1 }));
    expect(some).toEqual([
      {
        code: 'errors',
        text: '30.00 % of the background requests failed (2 with status 500, 1 without a response)',
        invalidates: [],
      },
    ]);
    expect(some.some(isFatal)).toBe(false);
    const all = judgeBackground(sampleBackground({ statusCodes: { 405: 9 }, cancelled: 1 }));
    expect(all).toMatchObject([{ code: 'background', invalidates: METRIC_IDS }]);
    expect(all.every(isFatal)).toBe(true);
  });
});

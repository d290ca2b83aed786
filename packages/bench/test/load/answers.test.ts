import { createHash } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createFleetEngine } from '../../src/load/fleet.ts';
import type { LoadSpec, RequestSpec } from '../../src/load/protocol.ts';
import type { LoadResult } from '../../src/results/record.ts';

const GENERATOR = fileURLToPath(new URL('../../src/load/generator.ts', import.meta.url));
const AMOUNT = 200;

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

/** Writes the answer to one request; `number` counts the requests of a connection, from 1. */
type Answer = (socket: Socket, number: number, head: string) => void;

/** Loads a server that answers like this with this many requests. Returns the report of the generator. */
async function load(answer: Answer, spec: Partial<LoadSpec> = {}): Promise<LoadResult> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server = createServer({ noDelay: true }, (socket) => {
    let number = 0;
    let rest = '';
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      const heads = (rest + piece.toString('latin1')).split('\r\n\r\n');
      rest = heads.pop() ?? '';
      for (const head of heads) answer(socket, ++number, head);
    });
  }).listen(0, '127.0.0.1', resolve);
  await promise;
  const engine = createFleetEngine({ name: 'autocannon', argv: [process.execPath, GENERATOR] });
  await using session = engine.open(
    {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      requests: [get()],
      connections: 2,
      timeoutSeconds: 2,
      barrierSeconds: 5,
      expected: undefined,
      hashEvery: 1,
      ...spec,
    },
    1,
  );
  await session.arm();
  // Awaited here, because the session ends with this function.
  return await session.fire(
    { warmupSeconds: 0, windowSeconds: 10, load: { mode: 'amount', requests: AMOUNT } },
    () => {},
  );
}

function get(headers: Record<string, string> = {}, method = 'GET'): RequestSpec {
  return { method, path: '/', headers };
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n';
const expected = [{ bytes: 2, sha256: createHash('sha256').update('ok').digest('hex') }];

/** An answer that reports this many ms. */
function tell(ms: number): string {
  return `HTTP/1.1 200 OK\r\nserver-timing: n;dur=${ms}\r\ncontent-length: 2\r\n\r\nok`;
}

/** Expects that every answer was correct and no connection was replaced. */
function expectAllRight({ counts, connect, unsolicited }: LoadResult): void {
  expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT, inFlight: 0 });
  expect(connect).toMatchObject({ asked: 2, stood: 2, retried: 0 });
  expect(unsolicited).toBe(0);
}

describe('an interim response', () => {
  it.each([
    ['103 Early Hints', EARLY_HINTS],
    ['several in a row', EARLY_HINTS + EARLY_HINTS + 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('completes no request: %s', async (_, interim) => {
    const seen = await load((socket) => socket.write(interim + OK), { expected });
    expectAllRight(seen);
    expect(seen.statusCodes).toEqual({ 200: AMOUNT });
    expect(seen.bodyBytes).toBe(2);
  });

  it('completes no request if the answer comes in a later packet', async () => {
    const seen = await load(
      (socket) => {
        socket.write(EARLY_HINTS);
        setImmediate(() => socket.write(OK));
      },
      { expected },
    );
    expectAllRight(seen);
    expect(seen.statusCodes).toEqual({ 200: AMOUNT });
  });

  it('does not decide if the connection is kept', async () => {
    let connections = 0;
    const seen = await load(
      (socket, number) => {
        if (number === 1) connections++;
        socket.write(`HTTP/1.1 103 Early Hints\r\nconnection: close\r\n\r\n${OK}`);
      },
      { expected },
    );
    expectAllRight(seen);
    expect(connections).toBe(2);
  });
});

describe('an answer without a body', () => {
  it.each([
    ['to HEAD with the content-length of GET', 'HTTP/1.1 200 OK\r\ncontent-length: 541\r\n\r\n', 'HEAD', {}],
    [
      'to HEAD with the transfer-encoding of GET',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      'HEAD',
      {},
    ],
    ['to HEAD without a content-length', 'HTTP/1.1 200 OK\r\n\r\n', 'HEAD', {}],
    ['with 204', 'HTTP/1.1 204 No Content\r\n\r\n', 'DELETE', {}],
    [
      'with 304 to a conditional request',
      'HTTP/1.1 304 Not Modified\r\ncontent-length: 541\r\netag: "a"\r\n\r\n',
      'GET',
      { 'If-None-Match': '"a"' },
    ],
  ])('%s ends with its headers, and the connection is kept', async (_, head, method, headers) => {
    let connections = 0;
    const seen = await load(
      (socket, number) => {
        if (number === 1) connections++;
        socket.write(head);
      },
      {
        requests: [get(headers, method)],
        expected: [{ bytes: 0, sha256: createHash('sha256').digest('hex') }],
      },
    );
    expectAllRight(seen);
    expect(connections).toBe(2);
    expect(seen.bodyBytes).toBe(0);
    expect(seen.bodiesHashed).toBe(seen.lifetime?.ok);
  });

  it('with 304 is wrong if the request had no condition', async () => {
    const seen = await load((socket) => socket.write('HTTP/1.1 304 Not Modified\r\n\r\n'));
    expect(seen.counts).toMatchObject({ ok: 0, non2xx: AMOUNT });
  });

  it('is recognised by its request if HEAD and GET alternate', async () => {
    const seen = await load(
      (socket, _, head) => socket.write(head.startsWith('HEAD') ? OK.slice(0, -2) : OK),
      {
        requests: [get({}, 'HEAD'), get()],
        expected: [{ bytes: 0, sha256: '' }, ...expected],
      },
    );
    expectAllRight(seen);
    expect(seen.statusCodes).toEqual({ 200: AMOUNT });
  });
});

describe('an unsolicited answer', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['in the same packet', (socket) => socket.write(OK + OK)],
    [
      'partly in the same packet',
      (socket) => {
        socket.write(OK + OK.slice(0, 20));
        setImmediate(() => socket.write(OK.slice(20)));
      },
    ],
    [
      'a little later',
      (socket) => {
        socket.write(OK);
        setImmediate(() => socket.write(OK));
      },
    ],
    [
      'before the answer',
      (socket) => {
        socket.write(OK);
        socket.write(OK);
      },
    ],
  ])('is counted separately: %s', async (_, second) => {
    const seen = await load(
      (socket, number) => {
        if (number === 20) second(socket);
        else socket.write(OK);
      },
      { expected },
    );
    expect(seen.unsolicited).toBe(2);
    expect(seen.counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
  });

  it('is not paired with the next request', async () => {
    const seen = await load(
      (socket, number) => {
        // The time that the surplus answer reports is not taken for the next one's.
        socket.write(tell(1) + (number % 10 === 0 ? tell(1_000_000) : ''));
      },
      { expected, timing: 'n' },
    );
    expect(seen.unsolicited).toBeGreaterThan(0);
    expect(seen.timing?.toldUs.max).toBeLessThan(1100);
    expect(seen.counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
  });

  it('does not affect the next connection if it was the last of the previous one', async () => {
    const last = OK.replace('content-length', 'connection: close\r\ncontent-length');
    const seen = await load((socket) => socket.end(last + last.slice(0, 30)), { expected });
    expect(seen.counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
  });
});

describe('a session', () => {
  it('is counted while it is armed, as after a Ctrl-C', async () => {
    const engine = createFleetEngine({ name: 'autocannon', argv: [process.execPath, GENERATOR] });
    const nowhere = {
      host: '127.0.0.1',
      port: 9,
      requests: [get()],
      connections: 1,
    };
    const limits = { timeoutSeconds: 2, barrierSeconds: 0.1, expected: undefined, hashEvery: 1 };
    await using session = engine.open({ ...nowhere, ...limits }, 1);
    // Both orders arrive together, because the generator is still starting.
    const armed = session.arm().catch(() => {});
    expect(await session.count?.()).toMatchObject({ ok: 0 });
    await armed;
  });
});

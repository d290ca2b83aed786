import { createHash } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createFleetEngine } from '../src/fleet.ts';
import type { LoadSpec, RequestSpec } from '../src/protocol.ts';
import type { LoadResult } from 'bench-model/load';
import { openSession } from './session.ts';

const GENERATOR = fileURLToPath(new URL('../src/generator.ts', import.meta.url));
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
  await using session = openSession(server, {
    requests: [get()],
    connections: 2,
    timeoutSeconds: 2,
    ...spec,
  });
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

/** A response that reports this many ms. */
function tell(ms: number): string {
  return `HTTP/1.1 200 OK\r\nserver-timing: n;dur=${ms}\r\ncontent-length: 2\r\n\r\nok`;
}

/** Expects that every response was correct and no connection was replaced. */
function expectAllRight({ counts, connect, unsolicited }: LoadResult): void {
  expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT, inFlight: 0 });
  expect(connect).toMatchObject({ planned: 2, established: 2, retried: 0 });
  expect(unsolicited).toBe(0);
}

describe('an interim response', () => {
  it('completes no request, and does not decide if the connection is kept', async () => {
    let connections = 0;
    const interims = [
      EARLY_HINTS,
      EARLY_HINTS + EARLY_HINTS + 'HTTP/1.1 102 Processing\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nconnection: close\r\n\r\n',
    ];
    const answers: ((socket: Socket) => void)[] = [
      ...interims.map((interim) => (socket: Socket) => socket.write(interim + OK)),
      (socket) => {
        socket.write(EARLY_HINTS);
        setImmediate(() => socket.write(OK));
      },
    ];
    const seen = await load(
      (socket, number) => {
        if (number === 1) connections++;
        answers[number % answers.length]?.(socket);
      },
      { expected },
    );
    expectAllRight(seen);
    expect(connections).toBe(2);
    expect(seen.statusCodes).toEqual({ 200: AMOUNT });
    expect(seen.bodyBytes).toBe(2);
  });
});

describe('a response that leaves HTTP', () => {
  it('has a wrong status, and the next request has a new connection', async () => {
    let connections = 0;
    const seen = await load(
      (socket, number) => {
        if (number === 1) connections++;
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
      },
      { expected },
    );
    expect(seen.counts).toMatchObject({ sent: AMOUNT, non2xx: AMOUNT, inFlight: 0 });
    expect(seen.statusCodes).toEqual({ 101: AMOUNT });
    expect(connections).toBeGreaterThanOrEqual(AMOUNT);
  });
});

describe('a response without a body', () => {
  it('ends with its headers, and the connection is kept', async () => {
    let connections = 0;
    /** The answer to each request, in turns. */
    const answers = [
      { request: get({}, 'HEAD'), head: 'HTTP/1.1 200 OK\r\ncontent-length: 541\r\n\r\n' },
      { request: get({}, 'HEAD'), head: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n' },
      { request: get({}, 'HEAD'), head: 'HTTP/1.1 200 OK\r\n\r\n' },
      { request: get({}, 'DELETE'), head: 'HTTP/1.1 204 No Content\r\n\r\n' },
      {
        request: get({ 'If-None-Match': '"a"' }),
        head: 'HTTP/1.1 304 Not Modified\r\ncontent-length: 541\r\netag: "a"\r\n\r\n',
      },
    ].map(({ request, head }, index) => ({ request: { ...request, path: `/${index}` }, head }));
    const seen = await load(
      (socket, number, head) => {
        if (number === 1) connections++;
        socket.write(answers[Number(/ \/(?<index>\d)/.exec(head)?.groups?.['index'])]?.head ?? OK);
      },
      {
        requests: answers.map(({ request }) => request),
        expected: answers.map(() => ({ bytes: 0, sha256: createHash('sha256').digest('hex') })),
      },
    );
    expectAllRight(seen);
    expect(connections).toBe(2);
    expect(seen.bodyBytes).toBe(0);
    expect(seen.bodiesHashed).toBe(seen.lifetime?.ok);
    const each = AMOUNT / answers.length;
    expect(seen.statusCodes).toEqual({ 200: 3 * each, 204: each, 304: each });
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

describe('an unsolicited response', () => {
  it('is counted separately', async () => {
    /** By the number of the request: in the same packet, partly in it, a little later, and before the response. */
    const surplus: Record<number, (socket: Socket) => void> = {
      20: (socket) => socket.write(OK + OK),
      40: (socket) => {
        socket.write(OK + OK.slice(0, 20));
        setImmediate(() => socket.write(OK.slice(20)));
      },
      60: (socket) => {
        socket.write(OK);
        setImmediate(() => socket.write(OK));
      },
      80: (socket) => {
        socket.write(OK);
        socket.write(OK);
      },
    };
    const seen = await load(
      (socket, number) => {
        const twice = surplus[number];
        if (twice === undefined) socket.write(OK);
        else twice(socket);
      },
      { expected },
    );
    expect(seen.unsolicited).toBe(8);
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

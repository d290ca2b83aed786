import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Slot } from 'bench-load/ledger';
import type { RequestSpec } from 'bench-load/protocol';
import { createSender } from 'bench-load/sender';
import { checkJson, ID, type Draw } from 'bench-targets/catalogue/workloads/workload';
import { sendRequest, type Endpoint } from 'bench-targets/catalogue/workloads/send';
import { awaitRightAnswer, verify } from '../../src/measure/verify.ts';

/** The response of the server to a body; each test sets it. */
let answer: (body: string) => { status?: number; body: string };
const bodies: string[] = [];
const listener: RequestListener = (request, response) => {
  let text = '';
  request.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  request.on('end', () => {
    bodies.push(text);
    const { status = 200, body } = answer(text);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
};
const server = createServer(listener);
let endpoint: Endpoint;

const post = (body: string) => ({ method: 'POST', path: '/', headers: {}, body });
const draw: Draw = {
  requests: [post(`{"id":"${ID}"}`), post(`{"n":1,"id":"${ID}"}`)],
  files: {},
  check: (given, index) => checkJson(given, index === 0 ? `{"id":"${ID}"}` : `{"id":"${ID}","n":1}`),
  fixedBody: true,
};

/** A server that answers rightly on the port of `server`, and is asked on one where nothing listens. */
const misplaced = (changes: Partial<Endpoint> = {}): Endpoint => ({
  ...endpoint,
  port: 1,
  listensOn: () => [{ address: '127.0.0.1', port: endpoint.port }],
  ...changes,
});

beforeAll(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen({ host: '127.0.0.1', port: 0 }, resolve);
  await promise;
  endpoint = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    ended: () => undefined,
    logTail: () => [],
  };
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** A draw whose rows are sent once. */
function drawOnce(count: number): Draw {
  let next = 0;
  return {
    requests: Array.from({ length: count }, (_, row) => post(`{"row":${row}}`)),
    routes: [
      { name: 'POST /', first: 0, count, statuses: ['2xx'], learns: false, isFixed: false, once: count },
    ],
    probes: [0, 1],
    files: {},
    next: () => next++,
    check: ({ status }) => (status === 201 ? undefined : `status ${status}`),
    fixedBody: false,
  };
}

describe('rows that are sent once', () => {
  it('reach a server that refuses what it has had only once', async () => {
    const seen = new Set<string>();
    answer = (body) => {
      const status = seen.has(body) ? 409 : 201;
      seen.add(body);
      return { status, body: '{}' };
    };
    const rows = drawOnce(5);
    await awaitRightAnswer(endpoint, rows, 5);
    await verify(endpoint, rows, 'before the load');
    await verify(endpoint, rows, 'after the load');
    expect(seen.size).toBe(5);
  });
});

describe('verify', () => {
  it('gives each request a unique id, and expects it in the response', async () => {
    answer = (body) => ({ body });
    bodies.length = 0;
    const expected = await verify(endpoint, draw, 'here');
    expect(new Set(bodies).size).toBe(3);
    expect(bodies.join('')).not.toContain(ID);
    expect(expected?.map((one) => one?.around)).toEqual([
      ['{"id":"', '"}'],
      ['{"n":1,"id":"', '"}'],
    ]);
    expect(expected?.map((one) => one?.bytes)).toEqual([
      `{"id":"${ID}"}`.length,
      `{"n":1,"id":"${ID}"}`.length,
    ]);
    expect((await sendRequest(endpoint, post(`"${ID}"`))).body.toString()).toBe(`"${ID}"`);
  });

  it.each<RequestSpec & { body?: string }>([
    { method: 'GET', path: '/a?b=1', headers: { 'x-shop': '1' } },
    { method: 'POST', path: '/', headers: { 'content-type': 'text/plain' }, body: 'é' },
    { method: 'GET', path: '/', headers: { host: 'shop.test', connection: 'close' } },
  ])('sends the bytes of the load, because a response may repeat its headers: %j', async (spec) => {
    let text = '';
    const listening = createTcpServer((socket) => {
      socket.on('data', (piece: Buffer) => {
        text += piece.toString();
        if (text.endsWith(spec.body ?? '\r\n\r\n')) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const { port } = listening.address() as AddressInfo;
    const place = { host: '127.0.0.1', port };
    const closed = once(listening, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    await sendRequest({ ...endpoint, ...place }, spec);
    await closed;
    listening.close();
    const sender = createSender({ ...place, requests: [spec], sender: 1, skippedCycles: 0 });
    expect(text.toLowerCase()).toBe(sender.take(new Slot()).toString().toLowerCase());
  });

  it('fails if the response has the id of another request', async () => {
    let last = '"none"';
    answer = (body) => {
      const before = last;
      last = body;
      return { body: before };
    };
    await sendRequest(endpoint, post(`{"id":"${ID}"}`));
    await expect(verify(endpoint, draw, 'here')).rejects.toThrow(/^POST \/ here: wrong body/);
  });

  it.each([
    ['POST', 'refuses-repeats'],
    ['GET', 'wrong-answer'],
  ])('tells a %s that works only once from a wrong response', async (method, kind) => {
    const spec = { method, path: '/', headers: {} };
    let left = 1;
    answer = () => (left-- > 0 ? { body: '{}' } : { status: 409, body: 'exists' });
    const single: Draw = { ...draw, requests: [spec], check: (given) => checkJson(given, '{}') };
    await expect(awaitRightAnswer(endpoint, single, 3600)).resolves.toBeUndefined();
    await expect(verify(endpoint, single, 'before the load')).rejects.toMatchObject({
      message: `${method} / before the load: status 409 instead of 200: exists`,
      fault: { kind },
    });
  });

  it('fails if a bad body is not refused with a 4xx', async () => {
    const refused = [post('{"id":')];
    for (const status of [200, 302, 500]) {
      answer = (body) => (body === '{"id":' ? { status, body: '{}' } : { body });
      await expect(verify(endpoint, { ...draw, refused }, 'here')).rejects.toThrow(
        `POST / here: a bad body was not refused: status ${status}`,
      );
    }
    answer = (body) => (body === '{"id":' ? { status: 422, body: '{}' } : { body });
    await expect(verify(endpoint, { ...draw, refused }, 'here')).resolves.toHaveLength(2);
  });
});

const where = () => `POST http://127.0.0.1:${endpoint.port}/`;

/** A server that does this with each connection. */
async function openMisfit(act: (socket: Socket) => void): Promise<Endpoint & AsyncDisposable> {
  const other = createTcpServer(act).listen({ host: '127.0.0.1', port: 0 });
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  return { ...endpoint, port, [Symbol.asyncDispose]: async () => void other.close() };
}

describe('awaitRightAnswer', () => {
  it.each([404, 405, 401, 301, 501])('gives up on a lasting %i, and names the address', async (status) => {
    answer = () => ({ status, body: 'no such page' });
    const attempt = awaitRightAnswer(endpoint, draw, 3600);
    await expect(attempt).rejects.toMatchObject({
      message: `${where()}: status ${status} instead of 200: no such page`,
      fault: { kind: 'wrong-answer', answer: { status } },
    });
  });

  it.each([404, 503, 500, 429])('waits for a server that first responses %i', async (status) => {
    let left = 3;
    answer = (body) => (left-- > 0 ? { status, body: 'not yet' } : { body });
    await expect(awaitRightAnswer(endpoint, draw, 3600)).resolves.toBeUndefined();
    expect(left).toBe(-1);
  });

  it('names the port on which the server listens instead', async () => {
    answer = () => ({ status: 503, body: 'not yet' });
    const elsewhere = {
      ...endpoint,
      port: endpoint.port,
      listensOn: () => [{ address: '127.0.0.1', port: 8000 }],
    };
    await expect(awaitRightAnswer(elsewhere, draw, 0.05)).rejects.toThrow(
      `no correct response within 0.05 s: it listens on port 8000, not on ${endpoint.port}`,
    );
  });

  describe('from another address than the one asked', () => {
    it('fails long before the deadline if the command does not name the port', async () => {
      answer = (body) => ({ body });
      await expect(awaitRightAnswer(misplaced({ mayIgnorePort: true }), draw, 1)).rejects.toMatchObject({
        message: `POST http://127.0.0.1:1/: it listens on port ${endpoint.port}, not on 1`,
        fault: { kind: 'other-port', namesPort: false },
      });
    });

    it('fails if it is the same port of another interface', async () => {
      answer = (body) => ({ body });
      const other = createServer(listener).listen({ host: '127.0.0.3', port: 0 });
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const asking = misplaced({ port, listensOn: () => [{ address: '127.0.0.3', port }] });
      await expect(awaitRightAnswer(asking, draw, 1)).rejects.toMatchObject({
        message: expect.stringContaining(
          `it listens on 127.0.0.3:${port}, not on 127.0.0.1:${port}`,
        ) as string,
        fault: { kind: 'other-address' },
      });
      other.close();
      other.closeAllConnections();
    });

    it.each([
      ['the command names its port, so the other one may be for metrics', false, 200],
      ['the other port does not give the correct response', true, 404],
    ])('waits until the deadline if %s', async (_why, mayIgnorePort, status) => {
      answer = (body) => ({ status, body });
      await expect(awaitRightAnswer(misplaced({ mayIgnorePort }), draw, 0.3)).rejects.toThrow(
        /no correct response within 0\.3 s: it listens on port \d+/,
      );
    });
  });

  describe('if nothing answers', () => {
    it('says that nothing listens', async () => {
      await expect(awaitRightAnswer({ ...endpoint, port: 1 }, draw, 0.1)).rejects.toMatchObject({
        message: 'POST http://127.0.0.1:1/: no correct response within 0.1 s: nothing listens on port 1',
        fault: { kind: 'not-listening' },
      });
    });

    it('says that the server closes each connection', async () => {
      await using other = await openMisfit((socket) => socket.destroy());
      await expect(awaitRightAnswer(other, draw, 0.2)).rejects.toMatchObject({
        message: expect.stringContaining('it closes the connection without a response') as string,
        fault: { kind: 'hangs-up' },
      });
    });
  });

  it('names the address at the deadline', async () => {
    answer = () => ({ status: 503, body: 'not yet' });
    await expect(awaitRightAnswer(endpoint, draw, 0.05)).rejects.toThrow(
      `${where()}: no correct response within 0.05 s: status 503 instead of 200: not yet`,
    );
  });
});

describe('a response that does not end', () => {
  /** Sends events as fast as it can. */
  const events = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write('data: tick\n\n'), 5);
    response.on('close', () => clearInterval(timer));
  });
  const stream: Draw = { ...draw, requests: [{ method: 'GET', path: '/events', headers: {} }] };
  let endless: Endpoint;

  beforeAll(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    events.listen({ host: '127.0.0.1', port: 0 }, resolve);
    await promise;
    endless = { ...endpoint, port: (events.address() as AddressInfo).port };
  });
  afterAll(() => {
    events.close();
    events.closeAllConnections();
  });

  const REFUSED =
    /^GET \S*\/events.*: the response did not end within 0\.2 s \(text\/event-stream\)\. Endless responses, such as server-sent events, cannot be measured$/;

  it('is refused at the start with an explanation', async () => {
    await expect(awaitRightAnswer(endless, stream, 30, 0.2)).rejects.toMatchObject({
      code: 'trial',
      message: expect.stringMatching(REFUSED) as string,
      hint: expect.stringContaining('whose responses end') as string,
    });
  });

  it('is refused with an explanation during verification', async () => {
    await expect(verify(endless, stream, 'before the load', 0.2)).rejects.toThrow(REFUSED);
  });
});

/** Writes a head, and then one byte after the other. */
function drip(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('.'), 20);
  socket.on('close', () => clearInterval(timer));
}

describe('a server that never completes a response', { concurrent: true }, () => {
  const ENDLESS = /the response did not end within (0\.2|1) s/;
  it.for<[string, (socket: Socket) => void, RegExp]>([
    [
      'switches the protocol',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
      /the server switched the protocol to websocket \(status 101\)\. Only HTTP can be measured/,
    ],
    ['sends half a head', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Ty'), ENDLESS],
    ['sends its head byte by byte', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-Pad: '), ENDLESS],
    [
      'sends its body byte by byte',
      (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n'),
      ENDLESS,
    ],
    ['never closes', (socket) => socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npong'), ENDLESS],
    ['says nothing', () => {}, /does not respond$|no response in 0\.2 s/],
    ['hangs up', (socket) => socket.end(), /it closes the connection without a response/],
  ])('%s: every wait ends', async ([, fault, says]) => {
    const faultyServer = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => fault(socket));
    }).listen({ host: '127.0.0.1', port: 0 });
    await once(faultyServer, 'listening');
    const faulty = { ...endpoint, port: (faultyServer.address() as AddressInfo).port };
    await expect(awaitRightAnswer(faulty, draw, 0.3)).rejects.toThrow(says);
    await expect(verify(faulty, draw, 'before the load', 0.2)).rejects.toThrow(says);
    const interruption = new AbortController();
    const stopping = { ...faulty, stopped: interruption.signal };
    const attempt = sendRequest(stopping, post('{}'), 3600);
    const wait = awaitRightAnswer(stopping, draw, 3600);
    interruption.abort();
    await expect(attempt).rejects.toThrow(/aborted/);
    await expect(wait).rejects.toThrow(/interrupted/);
    faultyServer.close();
  });
});

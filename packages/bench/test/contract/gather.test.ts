import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeFixtures, pathOf, type Item } from '@bench/upstream/fixtures';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStacks, targetsOf } from '../../src/catalogue/stacks.ts';
import { isListening } from '../../src/machine/ports.ts';
import type { Server } from '../../src/machine/launch.ts';
import { until } from '../cli/cli.ts';
import { needs, target } from '../needs.ts';
import { openHost } from './host.ts';

const host = openHost();
const stacks = readStacks();
const offered = stacks
  .flatMap(targetsOf)
  .filter(({ stack, variant }) =>
    stacks.find(({ name }) => name === stack)?.variants[variant]?.workloads.includes('gather'),
  );

const PATHS = [0, 1, 2].map(pathOf);
/** Longer than a server needs to send all fetches, and shorter than the timeout of its client. */
const BARRIER_MS = 3000;

/** Answers the servers of this file; each test sets it. */
let behave: RequestListener;
const asked: string[] = [];
const upstream = createServer((request, response) => {
  asked.push(request.url ?? '');
  behave(request, response);
});

/** The objects of each fixture, with the fields that stacks may know. */
const ITEMS = makeFixtures({ fixtures: 3, items: 2 }).map((text) =>
  (JSON.parse(text) as Item[]).map((item) => ({ ...item, name: 'é "<&>' })),
);

const sendItems: RequestListener = ({ url }, response) => sendJson(response, ITEMS[PATHS.indexOf(url ?? '')]);

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Answers when all fixtures are requested; with 500 if that does not happen in time. */
function holdUntilAll(): RequestListener {
  const waiting: (() => void)[] = [];
  return (request, response) => {
    const timer = setTimeout(() => response.writeHead(500).end(), BARRIER_MS);
    waiting.push(() => {
      clearTimeout(timer);
      sendItems(request, response);
    });
    if (waiting.length === PATHS.length) for (const send of waiting) send();
  };
}

beforeAll(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.listen({ host: '127.0.0.1', port: 0 }, resolve);
  await promise;
});
afterAll(() => {
  upstream.close();
  upstream.closeAllConnections();
});

describe.each(offered)('gather by $id', (wanted) => {
  const found = needs(target(wanted, stacks));
  let server: Server | undefined;
  let byHand: Server | undefined;

  beforeAll(async () => {
    if (found.why !== undefined) return;
    const ready = found.get();
    const { port } = upstream.address() as AddressInfo;
    const command = { command: ready.command, cwd: ready.stack.root, env: ready.env };
    byHand = await host.start(command);
    server = await host.start(
      { ...command, env: { ...ready.env, BENCH_UPSTREAM: `http://127.0.0.1:${port}` } },
      { BENCH_FIXTURES: JSON.stringify(PATHS) },
    );
    for (const one of [byHand, server]) await until(() => isListening(one.host, one.port), 'the server');
  });
  afterAll(async () => {
    await Promise.all([server?.stop(), byHand?.stop()]);
  });

  async function ask(one = server): Promise<{ status: number; headers: Headers; body: unknown }> {
    asked.length = 0;
    const answer = await fetch(`http://${one?.host}:${one?.port}/data`);
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  }

  it('joins all fixtures in order, fetches each once, and reports the time', async () => {
    behave = sendItems;
    for (const _ of [1, 2]) {
      const { status, headers, body } = await ask();
      expect(status).toBe(200);
      expect(body).toEqual(ITEMS.flat());
      expect(headers.get('content-type')).toMatch(/^application\/json\b/);
      expect(headers.get('server-timing')).toMatch(/\bgather;dur=\d+\.\d{3}\b/);
      expect(asked.toSorted()).toEqual(PATHS);
    }
    await until(() => server?.attestations()[0] !== undefined, 'its attestation');
    expect(server?.attestations()[0]).toMatchObject({ client: expect.stringMatching(/^\S+ \d/) as string });
  });

  it('fetches all fixtures in parallel', async () => {
    behave = holdUntilAll();
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it.for<[string, RequestListener]>([
    ['a status other than 200', (_request, response) => void response.writeHead(500).end('[]')],
    ['a closed connection', ({ socket }) => void socket.destroy()],
    ['text that is not JSON', (_request, response) => void response.writeHead(200).end('[{]')],
    ['JSON that is not an array', (_request, response) => sendJson(response, { items: [] })],
  ])('answers 502 without data if one fixture is answered with %s', async ([name, fail]) => {
    behave = (request, response) => (request.url === PATHS[1] ? fail : sendItems)(request, response);
    const { status, body } = await ask();
    expect(body).toEqual({ error: expect.stringMatching(/^upstream: ./) as string });
    expect(status).toBe(502);
    const times = asked.filter((path) => path === PATHS[1]).length;
    // Only Go's client repeats a request by itself if a kept connection is closed.
    const asksAgain = wanted.language === 'go' && name === 'a closed connection';
    expect(asksAgain ? Math.min(times, 1) : times).toBe(1);
    behave = sendItems;
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('answers 503 without BENCH_UPSTREAM', async () => {
    expect(await ask(byHand)).toMatchObject({ status: 503, body: { error: 'BENCH_UPSTREAM is not set' } });
    expect(asked).toEqual([]);
  });
});

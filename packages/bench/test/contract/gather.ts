import type { RequestListener, ServerResponse } from 'node:http';
import type { Item } from '@bench/upstream/fixtures';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Server } from '../../src/machine/launch.ts';
import { isListening } from '../../src/machine/ports.ts';
import type { Target } from '../../src/model.ts';
import type { Prepared } from '../../src/prepare/prepare.ts';
import { until } from '../cli/cli.ts';
import type { Need } from '../needs.ts';
import type { Host, Running } from './host.ts';
import type { Upstream } from './upstream.ts';

/** Longer than a server needs to send all fetches, and shorter than the timeout of its client. */
const BARRIER_MS = 3000;

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Answers as `send` does when all fixtures are requested; with 500 if that does not happen in time. */
function holdUntilAll(send: RequestListener, count: number): RequestListener {
  const waiting: (() => void)[] = [];
  return (request, response) => {
    const timer = setTimeout(() => response.writeHead(500).end(), BARRIER_MS);
    waiting.push(() => {
      clearTimeout(timer);
      send(request, response);
    });
    if (waiting.length === count) for (const answer of waiting) answer();
  };
}

/** What the tests of `gather` need of a target. */
interface Gathering {
  wanted: Target;
  ready: Need<Prepared>;
  host: Host;
  /** Returns its server, known from `beforeAll` on. */
  running: () => Running;
}

/** Tests how a target fetches from its upstream, and its answers if that fails. */
export function testGather({ wanted, ready, host, running }: Gathering): void {
  let server: Server;
  let upstream: Upstream;
  let paths: string[];
  /** The objects of each fixture, with the fields that stacks may know. */
  let items: Item[][];
  let byHand: Server | undefined;

  beforeAll(async () => {
    if (ready.why !== undefined) return;
    const { command, stack, env } = ready.get();
    byHand = await host.start({ command, cwd: stack.root, env });
    const one = running();
    if (one.upstream === undefined) throw new Error(`${wanted.id} has no upstream`);
    ({ server, upstream } = { server: one.server, upstream: one.upstream });
    paths = [...upstream.fixtures.keys()];
    items = [...upstream.fixtures.values()].map((text) =>
      (JSON.parse(text) as Item[]).map((item) => ({ ...item, name: 'é "<&>' })),
    );
    for (const { host: address, port } of [byHand, server])
      await until(() => isListening(address, port), 'the server');
  });
  afterAll(async () => {
    await byHand?.stop();
  });

  const sendItems: RequestListener = ({ url }, response) =>
    sendJson(response, items[paths.indexOf(url ?? '')]);

  async function ask(one = server): Promise<{ status: number; headers: Headers; body: unknown }> {
    upstream.asked.length = 0;
    const answer = await fetch(`http://${one.host}:${one.port}/data`);
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  }

  describe('gather', () => {
    it('joins all fixtures in order, fetches each once, and reports the time', async () => {
      upstream.behave = sendItems;
      for (const _ of [1, 2]) {
        const { status, headers, body } = await ask();
        expect(status).toBe(200);
        expect(body).toEqual(items.flat());
        expect(headers.get('content-type')).toMatch(/^application\/json\b/);
        expect(headers.get('server-timing')).toMatch(/\bgather;dur=\d+\.\d{3}\b/);
        expect(upstream.asked.toSorted()).toEqual(paths.toSorted());
      }
      await until(() => server.attestations()[0] !== undefined, 'its attestation');
      expect(server.attestations()[0]).toMatchObject({ client: expect.stringMatching(/^\S+ \d/) as string });
    });

    it('fetches all fixtures in parallel', async () => {
      upstream.behave = holdUntilAll(sendItems, paths.length);
      expect(await ask()).toMatchObject({ status: 200 });
    });

    it.for<[string, RequestListener]>([
      ['a status other than 200', (_request, response) => void response.writeHead(500).end('[]')],
      ['a closed connection', ({ socket }) => void socket.destroy()],
      ['text that is not JSON', (_request, response) => void response.writeHead(200).end('[{]')],
      ['JSON that is not an array', (_request, response) => sendJson(response, { items: [] })],
    ])('answers 502 without data if one fixture is answered with %s', async ([name, fail]) => {
      upstream.behave = (request, response) =>
        (request.url === paths[1] ? fail : sendItems)(request, response);
      const { status, body } = await ask();
      expect(body).toEqual({ error: expect.stringMatching(/^upstream: ./) as string });
      expect(status).toBe(502);
      const times = upstream.asked.filter((path) => path === paths[1]).length;
      // Only Go's client repeats a request by itself if a kept connection is closed.
      const asksAgain = wanted.language === 'go' && name === 'a closed connection';
      expect(asksAgain ? Math.min(times, 1) : times).toBe(1);
      upstream.behave = sendItems;
      expect(await ask()).toMatchObject({ status: 200 });
    });

    it('answers 503 without BENCH_UPSTREAM', async () => {
      expect(await ask(byHand)).toMatchObject({ status: 503, body: { error: 'BENCH_UPSTREAM is not set' } });
      expect(upstream.asked).toEqual([]);
    });
  });
}

import type { RequestListener, ServerResponse } from 'node:http';
import type { Item } from '@bench/upstream/fixtures';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Server } from 'bench-machine/launch';
import type { Target } from 'bench-model/target';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Need } from '../../../bench-lab/testing/needs.ts';
import type { Running } from './host.ts';
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

/** The properties of a target that the tests of `gather` need. */
interface Gathering {
  wanted: Target;
  ready: Need<Prepared>;
  /** Returns its server, known from `beforeAll` on. */
  running: () => Running;
}

/** Tests how a target fetches from its upstream, and its responses if that fails. */
export function testGather({ wanted, ready, running }: Gathering): void {
  let server: Server;
  let upstream: Upstream;
  let paths: string[];
  /** The objects of each fixture, with the fields that stacks may know. */
  let items: Item[][];

  beforeAll(async () => {
    if (ready.why !== undefined) return;
    const one = running();
    if (one.upstream === undefined) throw new Error(`${wanted.id} has no upstream`);
    ({ server, upstream } = { server: one.server, upstream: one.upstream });
    paths = [...upstream.fixtures.keys()];
    items = [...upstream.fixtures.values()].map((text) =>
      (JSON.parse(text) as Item[]).map((item) => ({ ...item, name: 'é "<&>' })),
    );
  });

  const sendItems: RequestListener = ({ url }, response) =>
    sendJson(response, items[paths.indexOf(url ?? '')]);

  async function ask(): Promise<{ status: number; headers: Headers; body: unknown }> {
    upstream.paths.length = 0;
    const answer = await fetch(`http://${server.host}:${server.port}/data`);
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
        expect(upstream.paths.toSorted()).toEqual(paths.toSorted());
      }
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
      const times = upstream.paths.filter((path) => path === paths[1]).length;
      // Only Go's client repeats a request by itself if a kept connection is closed.
      const asksAgain = wanted.language === 'go' && name === 'a closed connection';
      expect(asksAgain ? Math.min(times, 1) : times).toBe(1);
      upstream.behave = sendItems;
      expect(await ask()).toMatchObject({ status: 200 });
    });
  });
}

/** What arrives from servers and generators: the two ways to read answers count alike, and garbage of a generator has words. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import type { Child } from 'bench-machine/subprocess';
import type { LoadSession } from 'bench-load/engine';
import { Generator } from 'bench-load/line';
import { listenTo } from 'bench-load/listen';
import type { LoadSpec } from 'bench-load/protocol';
import { openSession, toSpec } from '../../../bench-load/test/session.ts';
import { takeMany, textsLike } from './mutate.ts';

const IS_FULL = process.env['BENCH_FUZZ'] !== undefined;

/** One response: its framing, its body, and the places where it is cut into pieces. */
interface Answer {
  framing: 'length' | 'chunks' | 'close';
  status: string;
  body: string;
  headers: string[];
  isEarly: boolean;
  cuts: number[];
}

const answer: fc.Arbitrary<Answer> = fc.record({
  framing: fc.constantFrom('length', 'length', 'length', 'chunks', 'close'),
  status: fc.constantFrom('200 OK', '200 OK', '200', '404 Not Found', '503 Busy'),
  body: fc.constantFrom('right', 'right', 'right', 'wrong', '', 'longer than right', 'right\r\n\r\n'),
  headers: fc.array(
    fc.constantFrom(
      'Date: now',
      'X-A: 1',
      'x-a: 22',
      'Content-Type: text/plain',
      'Connection: keep-alive',
      'X-Empty:',
    ),
    { maxLength: 3 },
  ),
  isEarly: fc.boolean(),
  cuts: fc.array(fc.nat(300), { maxLength: 3 }),
});

function bytesOf({ framing, status, body, headers, isEarly }: Answer): string {
  const early = isEarly ? 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' : '';
  const own =
    framing === 'chunks'
      ? 'Transfer-Encoding: chunked'
      : `Content-Length: ${body.length}${framing === 'close' ? '\r\nConnection: close' : ''}`;
  const head = [`HTTP/1.1 ${status}`, ...headers, own].join('\r\n');
  const chunks = `${body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`;
  return `${early}${head}\r\n\r\n${framing === 'chunks' ? chunks : body}`;
}

/** The responses of the server, in turn. */
let answers: Answer[] = [];
let served = 0;
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.on('data', () => void reply(socket, answers[served++ % answers.length]!));
});

async function reply(socket: Socket, one: Answer): Promise<void> {
  const text = bytesOf(one);
  const cuts = [0, ...one.cuts.map((cut) => cut % text.length).toSorted((a, b) => a - b), text.length];
  for (const [index, from] of cuts.entries()) {
    socket.write(text.slice(from, cuts[index + 1] ?? text.length));
    await turn();
  }
  if (one.framing === 'close') socket.end();
}

let spec: LoadSpec;
let first: LoadSession;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  spec = toSpec(server, {
    requests: [{ method: 'GET', path: '/', headers: {} }],
    connections: 1,
    expected: [{ bytes: 5, sha256: createHash('sha256').update('right').digest('hex') }],
  });
  first = openSession(server, spec, true);
});
afterAll(async () => {
  await first[Symbol.asyncDispose]();
  server.close();
});

/** Loads the server, and returns the counts of this way to read. */
async function count(parsesAll: boolean): Promise<object> {
  served = 0;
  const session = first.beside!({ ...spec, parsesAll });
  await session.arm();
  const load = { mode: 'amount', requests: 2 * answers.length } as const;
  const window = { warmupSeconds: 0, windowSeconds: 5, load };
  const { connect, counts, unsolicited } = await session.fire(window, () => {});
  await session.leave?.();
  // Nothing counts as much as nothing.
  expect(connect.established).toBe(1);
  return { ...counts, unsolicited };
}

describe('the responses of a server', () => {
  it('count alike, whether the parser reads them or they are known by their shape', async () => {
    await takeMany(
      fc.array(answer, { minLength: 1, maxLength: 6 }),
      async (given) => {
        answers = given;
        expect(await count(false)).toEqual(await count(true));
      },
      { runs: IS_FULL ? undefined : 12 },
    );
  });
});

const REPORTS = [
  { event: 'done', order: 'count', result: { sent: 2, ok: 2 } },
  { event: 'broken', message: 'no more' },
  { event: 'opened' },
  { event: 'used-up', route: 0, requests: 3, seconds: 1 },
];

describe('a generator', () => {
  it('that prints anything is heard out, or fails with words', async () => {
    const lines = REPORTS.map((report) => `${JSON.stringify(report)}\n`);
    const taken = takeMany(textsLike([...lines, lines.join('')]), async (text) => {
      const stdout = new PassThrough();
      const child = Object.assign(new PassThrough(), {
        stdout,
        stdin: null,
        stderr: null,
      }) as unknown as Child;
      const generator = new Generator((events) => {
        listenTo(child, events);
        return { pid: undefined, send: () => {}, end: async () => {} };
      });
      const asked = generator.ask({ do: 'count', session: 0 }).catch((error: unknown) => error);
      stdout.end(text);
      await once(stdout, 'close');
      child.emit('exit', 1, null);
      const told = await asked;
      if (told instanceof Error && !(told instanceof BenchError)) throw told;
    });
    await expect(taken).resolves.toBeUndefined();
  });
});

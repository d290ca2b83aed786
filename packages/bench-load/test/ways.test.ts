import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { idsIn } from 'bench-targets/catalogue/workloads/stamps';
import { ID } from 'bench-targets/catalogue/workloads/workload';
import { Arrivals } from '../src/arrivals.ts';
import { Client } from '../src/autocannon.ts';
import { runConnection } from '../src/client.ts';
import { Ledger } from '../src/ledger.ts';
import { Pacer } from '../src/pacer.ts';
import type { ExpectedBody, RequestSpec } from '../src/protocol.ts';
import { createSender } from '../src/sender.ts';
import { Shapes } from '../src/shapes.ts';
import { createTimingReader } from '../src/timing.ts';
import { createRandom } from 'bench-statistics/random';
import type { Counts } from 'bench-model/figures';
import { sumOf } from '../../bench-lab/testing/samples.ts';

/** The options of a connection that the driver sets. */
interface Options {
  onread: { callback: (length: number) => boolean };
}

/** A connection whose other end is the test. */
class Line extends EventEmitter {
  readonly written: string[] = [];
  readonly take: (length: number) => boolean;
  connecting = true;
  isDestroyed = false;

  constructor({ onread }: Options) {
    super();
    this.take = onread.callback;
    lines.push(this);
  }

  _write(bytes: Buffer): void {
    this.written.push(bytes.toString('latin1'));
  }
  destroySoon(): void {
    this.isDestroyed = true;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}

const lines: Line[] = [];
vi.mock(import('node:net'), async (original) => ({
  ...(await original()),
  connect: ((options: Options) => new Line(options)) as never,
}));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  lines.length = 0;
  vi.useRealTimers();
});

interface Load {
  request?: Partial<RequestSpec>;
  expected?: ExpectedBody;
  timing?: string;
  hashEvery?: number;
  /** True if the load has not begun. */
  isArming?: boolean;
}

/** The server's side of one response: its pieces, and the end of the connection after them. */
interface Step {
  pieces: string[];
  ending?: 'end' | 'reset' | 'timeout';
  /** Set if the connection ends before it is established. */
  isRefused?: true;
}

/** Sends one request after the other on one connection, and lets a server answer like this. Returns the account. */
function play(steps: readonly Step[], load: Load, lessons?: number) {
  const requests = [{ method: 'GET', path: '/', headers: {}, ...load.request }];
  const clocks = {
    now: () => performance.now(),
    counts: () => ({ loopCount: 0, events: 0 }),
    idleMs: () => 0,
  };
  const ledger = new Ledger(
    { requests, expected: load.expected && [load.expected], hashEvery: load.hashEvery ?? 2 },
    new Arrivals(clocks),
  );
  const buffer = Buffer.allocUnsafeSlow(65_536);
  const shapes = new Shapes(buffer, lessons);
  const pacer = new Pacer(() => 1);
  const context = {
    ledger,
    pacer,
    gate: { reserve: () => true, refund: () => load.isArming ?? true, restMs: () => 0 },
    sender: createSender({ requests, host: '127.0.0.1', port: 1, sender: 1, skippedCycles: 0 }),
    shapes,
    readTiming: load.timing === undefined ? undefined : createTimingReader(load.timing),
  };
  const slot = ledger.addSlot();
  const before = lines.length;
  const client = new Client({
    hostname: '127.0.0.1',
    port: 1,
    requests,
    setupClient: (one) => runConnection(one, slot, context),
  });
  const parse = vi.spyOn(client.parser, 'execute');
  const connected = new Set<Line>();
  /** Returns the line that is in use, after its connect. */
  const inUse = (isRefused = false): Line => {
    vi.advanceTimersByTime(20);
    const line = lines.at(-1);
    if (line === undefined) throw new Error('no connection');
    if (isRefused) {
      expect(connected.has(line)).toBe(false);
    } else if (!connected.has(line)) {
      connected.add(line);
      expect(line.written).toEqual([]);
      line.connecting = false;
      line.emit('connect');
    }
    return line;
  };
  inUse();
  ledger.open(1e9);
  const parsed: number[] = [];
  for (const { pieces, ending, isRefused } of steps) {
    const line = inUse(isRefused);
    const earlier = parse.mock.calls.length;
    const [id] = idsIn(line.written.at(-1) ?? '');
    for (const piece of pieces) {
      vi.advanceTimersByTime(1);
      const bytes = Buffer.from(id === undefined ? piece : piece.replaceAll(ID, id), 'latin1');
      bytes.copy(buffer);
      line.take(bytes.length);
      // The next piece of any connection comes into the same bytes.
      buffer.fill(0xaa, 0, bytes.length);
    }
    parsed.push(parse.mock.calls.length - earlier);
    if (ending === 'end') line.emit('end');
    if (ending === 'reset') line.emit('error', new Error('reset'));
    if (ending === 'timeout') vi.advanceTimersByTime(isRefused === true ? 10_000 : 60_000);
  }
  const { counts, statusCodes, crossed, bodiesHashed, timing, latencies } = ledger.account;
  const { histogram } = latencies;
  const account = {
    lifetime: ledger.countAll(),
    window: { ...counts },
    statusCodes,
    unsolicited: ledger.unsolicited,
    crossed,
    bodiesHashed,
    bodyBytes: ledger.bodyBytes,
    latencies: [histogram.totalCount, histogram.mean, histogram.maxValue],
    told: timing && [timing.told.totalCount, timing.told.mean],
    rest: timing && [timing.rest.totalCount, timing.rest.mean],
    connections: lines.length - before,
    written: lines.slice(before).map(({ written }) => written.length),
    closed: lines.slice(before).map(({ isDestroyed }) => isDestroyed),
    retries: pacer.retries,
  };
  client.destroy();
  return { parsed, account };
}

/** Plays both ways and expects the same account. Returns it, and the number of times that each step needed the parser. */
function expectSameAccount(steps: readonly Step[], load: Load = {}) {
  const seen = play(steps, load);
  const parsed = play(steps, load, 0);
  expect(seen.account).toEqual(parsed.account);
  return seen;
}

const BODY = '["right"]';
const EXPECTED: ExpectedBody = {
  bytes: BODY.length,
  sha256: createHash('sha256').update(BODY).digest('hex'),
};

let second = 10;
let id = 1000;
/** Returns a correct response with another date and id each time. */
function answer({
  status = '200 OK',
  version = '1.1',
  body = BODY,
  length = `content-length: ${String(body.length)}`,
  more = '',
}: Partial<Record<'status' | 'version' | 'body' | 'length' | 'more', string>> = {}): string {
  const date = `Date: Sun, 22 Nov 2026 10:00:${(second = 10 + ((second + 1) % 50))} GMT`;
  return `HTTP/${version} ${status}\r\n${date}\r\nx-id: ${id++}\r\n${length}\r\n${more}\r\n${body}`;
}

const chunked = (body: string) => answer({ length: 'transfer-encoding: chunked', body });
const HEAD = { method: 'HEAD' };
const EMPTY: ExpectedBody = { bytes: 0, sha256: '' };

/** Correct responses, each with the load that it belongs to. */
const SOUND: [string, () => string, Load][] = [
  ['with a length', () => answer(), { expected: EXPECTED }],
  ['of any body', () => answer(), {}],
  ['in one chunk', () => chunked('9\r\n["right"]\r\n0\r\n\r\n'), { expected: EXPECTED }],
  [
    'in several chunks',
    () => chunked('2\r\n["\r\n5\r\nright\r\n2\r\n"]\r\n0\r\n\r\n'),
    { expected: EXPECTED },
  ],
  ['without a body', () => answer({ body: '' }), { expected: EMPTY }],
  [
    'to HEAD with the length of GET',
    () => answer({ body: '', length: 'content-length: 541' }),
    { request: HEAD, expected: EMPTY },
  ],
  [
    'to HEAD with the coding of GET',
    () => answer({ body: '', length: 'transfer-encoding: chunked' }),
    { request: HEAD, expected: EMPTY },
  ],
  ['with 204', () => answer({ status: '204 No Content', length: 'x: y', body: '' }), { expected: EMPTY }],
  [
    'with 304',
    () => answer({ status: '304 Not Modified', body: '', length: 'content-length: 541' }),
    { request: { headers: { 'if-none-match': '"a"' } }, expected: EMPTY },
  ],
  [
    'over HTTP/1.0, kept alive',
    () => answer({ version: '1.0', more: 'connection: keep-alive\r\n' }),
    { expected: EXPECTED },
  ],
  ['that announces the close', () => answer({ more: 'connection: close\r\n' }), { expected: EXPECTED }],
  ['over HTTP/1.0', () => answer({ version: '1.0' }), { expected: EXPECTED }],
  [
    'to a request that asks for the close',
    () => answer(),
    { request: { headers: { connection: 'close' } }, expected: EXPECTED },
  ],
  [
    'that reports its time',
    () => answer({ more: `server-timing: n;dur=${id % 7}.25\r\n` }),
    { expected: EXPECTED, timing: 'n' },
  ],
];

/** Splits a response after its head and in its body. */
const split = (text: string) => {
  const at = text.indexOf('\r\n\r\n') + 4;
  return { pieces: [text.slice(0, at), text.slice(at, at + 3), text.slice(at + 3)] };
};

/** Every position at which a text can be split. */
const positionsIn = (text = '') => Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => at + 1);

/** Without the last request, which waits for its response or for its connection. */
const endedOf = ({ lifetime: { ok, sent, inFlight } }: { lifetime: Counts }) => ({
  ok,
  ended: sent - inFlight,
});

describe('a correct response', () => {
  it.each(SOUND)('needs no parser once its shape is known: %s', (_, make, load) => {
    const { parsed, account } = expectSameAccount(
      Array.from({ length: 12 }, () => ({ pieces: [make()] })),
      load,
    );
    expect(endedOf(account)).toEqual({ ok: 12, ended: 12 });
    expect(parsed.slice(2)).toEqual(Array.from({ length: 10 }, () => 0));
    expect(parsed[0]).toBe(1);
  });

  it.each(SOUND)('has the same account wherever it is split: %s', (_, make, load) => {
    const whole = () => ({ pieces: [make()] });
    const cuts = positionsIn(make()).map((at) =>
      [make(), make()].map((text) => ({ pieces: [text.slice(0, at), text.slice(at)] })),
    );
    const steps = [whole(), whole(), whole(), ...cuts.flatMap((cut) => [...cut, whole()])];
    const { account } = expectSameAccount([...steps, { pieces: make().split('') }, whole()], load);
    const ok = steps.length + 2;
    expect(endedOf(account)).toEqual({ ok, ended: ok });
  });

  it('needs no parser if its head comes with the first piece of its body', () => {
    const steps = Array.from({ length: 6 }, () => split(answer()));
    expect(expectSameAccount(steps, { expected: EXPECTED }).parsed.slice(2)).toEqual([0, 0, 0, 0]);
  });
});

/** Answers that differ from those before them. */
const OTHER: [string, () => Step][] = [
  ['with other bytes of the same length', () => ({ pieces: [answer({ body: '["wrong"]' })] })],
  ['with another length', () => ({ pieces: [answer({ body: '["righ"]' })] })],
  [
    'with a longer body than its length',
    () => ({ pieces: [answer({ body: BODY + BODY, length: `content-length: ${BODY.length}` })] }),
  ],
  ['with another status of the same length', () => ({ pieces: [answer({ status: '500 NO' })] })],
  ['with another header', () => ({ pieces: [answer({ more: 'x: y\r\n' })] })],
  ['with a header of another name', () => ({ pieces: [answer().replace('x-id', 'y-id')] })],
  ['with a longer id', () => ({ pieces: [answer().replace('x-id: ', 'x-id: 9')] })],
  ['with a line break in an id', () => ({ pieces: [answer().replace(/x-id: ..../, 'x-id: a\r\nb')] })],
  ['with a header in an id', () => ({ pieces: [answer().replace(/x-id: ..../, 'x-id:\r\nb:c')] })],
  ['with half a line break in an id', () => ({ pieces: [answer().replace(/x-id: ..../, 'x-id: a\rbc')] })],
  ['with a line feed in an id', () => ({ pieces: [answer().replace(/x-id: ..../, 'x-id: a\nb:')] })],
  ['with bare line feeds', () => ({ pieces: [answer().replaceAll('\r\n', '\n')] })],
  ['over HTTP/1.0', () => ({ pieces: [answer({ version: '1.0' })] })],
  ['in chunks', () => ({ pieces: [chunked('9\r\n["right"]\r\n0\r\n\r\n')] })],
  ['in chunks with a trailer', () => ({ pieces: [chunked('9\r\n["right"]\r\n0\r\na: b\r\n\r\n')] })],
  ['with a folded header', () => ({ pieces: [answer({ more: 'x: y\r\n z\r\n' })] })],
  ['with two equal lengths', () => ({ pieces: [answer({ more: 'content-length: 9\r\n' })] })],
  ['with two lengths', () => ({ pieces: [answer({ more: 'content-length: 8\r\n' })], ending: 'timeout' })],
  ['that is not HTTP', () => ({ pieces: ['nonsense\r\n\r\n', answer()] })],
  ['after an interim one', () => ({ pieces: ['HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n', answer()] })],
  ['after an interim one in its piece', () => ({ pieces: [`HTTP/1.1 100 Continue\r\n\r\n${answer()}`] })],
  ['that announces the close', () => ({ pieces: [answer({ more: 'connection: close\r\n' })] })],
  [
    'that announces the close, and closes',
    () => ({ pieces: [answer({ more: 'connection: close\r\n' })], ending: 'end' }),
  ],
  ['that ends with the connection', () => ({ pieces: [answer({ length: 'x: y' })], ending: 'end' })],
  ['that is cut off in its body', () => ({ pieces: [answer().slice(0, -4)], ending: 'end' })],
  ['that is cut off in its head', () => ({ pieces: [answer().slice(0, 30)], ending: 'reset' })],
  ['that is reset in its body', () => ({ pieces: [answer().slice(0, -1)], ending: 'reset' })],
  ['that stalls in its body', () => ({ pieces: [answer().slice(0, -1)], ending: 'timeout' })],
  ['that does not come', () => ({ pieces: [], ending: 'timeout' })],
  ['that is right, and the connection ends', () => ({ pieces: [answer()], ending: 'end' })],
  ['that comes twice', () => ({ pieces: [answer() + answer()] })],
  [
    'that comes three times in two pieces',
    () => ({ pieces: [answer() + answer().slice(0, -3), `-3"]${answer()}`] }),
  ],
  [
    'whose surplus ends in its head',
    () => ({ pieces: [answer() + answer().slice(0, 25), answer().slice(25) + answer()] }),
  ],
  [
    'whose surplus ends in its body',
    () => ({ pieces: [answer() + answer().slice(0, -5), answer().slice(-5)] }),
  ],
  ['whose rest brings a surplus', () => ({ pieces: [answer().slice(0, -2), answer().slice(-2) + answer()] })],
  [
    'whose rest brings part of a surplus',
    () => ({
      pieces: [answer().slice(0, -2), answer().slice(-2) + answer().slice(0, 40), answer().slice(40)],
    }),
  ],
];

const sound = () => Array.from({ length: 4 }, () => ({ pieces: [answer()] }));

describe('any other response has the same account on both ways', () => {
  it.each(OTHER)('%s', (_, make) => {
    for (const hashEvery of [1, 3]) {
      const { lifetime } = expectSameAccount([...sound(), make(), ...sound(), make(), ...sound()], {
        expected: EXPECTED,
        hashEvery,
      }).account;
      expect(sumOf(lifetime)).toBe(lifetime.sent);
    }
  });

  it.each(OTHER)('%s, wherever its first piece is split', (_, make) => {
    const cuts = positionsIn(make().pieces[0]).map((at) => {
      const { pieces, ending } = make();
      const [first = '', ...others] = pieces;
      return { pieces: [first.slice(0, at), first.slice(at), ...others], ...(ending && { ending }) };
    });
    const steps = cuts.flatMap((cut) => [...sound(), cut]);
    const { lifetime } = expectSameAccount([...steps, ...sound()], {
      expected: EXPECTED,
      hashEvery: 1,
    }).account;
    expect(sumOf(lifetime)).toBe(lifetime.sent);
  });

  it.each(Array.from({ length: 60 }, (_, seed) => seed))('in random sequence %d', (seed) => {
    const random = createRandom(seed);
    const steps = Array.from({ length: 60 }, () => {
      const step =
        random.below(4) > 0 ? { pieces: [answer()] } : (OTHER[random.below(OTHER.length)]?.[1]() as Step);
      const pieces = step.pieces.flatMap((piece) => {
        if (random.below(3) > 0 || piece.length < 2) return [piece];
        const at = 1 + random.below(piece.length - 1);
        return [piece.slice(0, at), piece.slice(at)];
      });
      return { ...step, pieces };
    });
    const { lifetime } = expectSameAccount(steps, {
      expected: EXPECTED,
      hashEvery: 1 + random.below(3),
    }).account;
    expect(sumOf(lifetime)).toBe(lifetime.sent);
  });
});

describe('a response with the id of its request', () => {
  const around = ['{"id":"', '"}'];
  const text = around.join(ID);
  const load: Load = {
    request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"id=${ID}"}` },
    expected: { bytes: text.length, sha256: '', around },
  };

  it('needs no parser, and its whole body is compared', () => {
    const right = () => ({ pieces: [answer({ body: text })] });
    const crossed = { pieces: [answer({ body: around.join('bench-000009-00000001') })] };
    const { parsed, account } = expectSameAccount(
      [right(), right(), right(), crossed, right(), right()],
      load,
    );
    expect(account.lifetime).toMatchObject({ ok: 5, mismatch: 1 });
    expect(parsed.slice(2)).toEqual([0, 0, 0, 0]);
  });
});

/** The last response of its connection. */
const last = (): Step => ({ pieces: [answer({ more: 'connection: close\r\n' })] });

describe('a connect that fails', () => {
  const failing = (['reset', 'timeout', 'end'] as const).map((ending): Step => {
    return { pieces: [], isRefused: true, ending };
  });
  const steps = (): Step[] => [last(), ...failing, last(), last()];

  it('fails its request under load', () => {
    const { lifetime, latencies, retries } = expectSameAccount(steps(), { isArming: false }).account;
    expect(lifetime).toMatchObject({ sent: 6, ok: 3, reset: 1, timeout: 1, closedEarly: 1, inFlight: 0 });
    // The first response of a slot has no latency.
    expect(latencies[0]).toBe(2);
    expect(retries).toBe(3);
  });

  it('is repeated before the load', () => {
    const { lifetime, retries } = expectSameAccount(steps(), { isArming: true }).account;
    expect(lifetime).toMatchObject({ sent: 3, ok: 3, inFlight: 0 });
    expect(retries).toBe(3);
  });
});

describe('answers that vary too much', () => {
  it('are left to the parser', () => {
    const steps = Array.from({ length: 100 }, (_, index) => ({
      pieces: [answer({ more: `x-${'y'.repeat(index)}: z\r\n` })],
    }));
    const { parsed, account } = expectSameAccount(steps, { expected: EXPECTED });
    expect(account.lifetime.ok).toBe(100);
    expect(new Set(parsed)).toEqual(new Set([1]));
  });
});

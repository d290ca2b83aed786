import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mergeHistograms } from 'bench-statistics/histogram';
import { Ledger, type Slot } from '../src/ledger.ts';
import type { ExpectedBody, ScheduleCounts } from '../src/protocol.ts';
import { createRandom } from 'bench-statistics/random';
import { sumOf } from '../../bench-lab/testing/samples.ts';

const RIGHT: Buffer = Buffer.from('["right"]');
const WRONG: Buffer = Buffer.from('["wrong"]');
const EXPECTED: ExpectedBody = {
  bytes: RIGHT.length,
  sha256: createHash('sha256').update(RIGHT).digest('hex'),
};

/** The clock that the ledger reads, in ms. */
let now = 0;

beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function createLedger(
  expected: (ExpectedBody | null)[] | undefined,
  hashEvery: number,
  keptBytes?: number,
): Ledger {
  const requests = (expected ?? [undefined]).map(() => ({ method: 'GET', path: '/', headers: {} }));
  return new Ledger({ expected, hashEvery, requests, timing: 'app' }, undefined, undefined, keptBytes);
}

/** Returns the account of an open loop whose schedule has counted nothing. */
function startsOf(ledger: Ledger): Partial<ScheduleCounts> {
  return ledger.report({ intended: 0, late: 0, dropped: 0 }).schedule ?? {};
}

function answer(ledger: Ledger, slot: Slot, { status = 200, body = RIGHT, ms = 1 } = {}): void {
  ledger.send(slot);
  ledger.receive(slot, body);
  ledger.complete(slot, status, ms);
}

/** Counts the responses that are found wrong of 6,400 on 8 connections, of which every 32nd is. */
function countWrong(keptBytes?: number): number {
  const ledger = createLedger([EXPECTED], 16, keptBytes);
  const slots = Array.from({ length: 8 }, () => ledger.addSlot());
  for (let index = 0; index < 32 * 200; index++)
    answer(ledger, slots[index % 8]!, { body: index % 32 === 31 ? WRONG : RIGHT });
  return ledger.lifetime.mismatch;
}

describe('the sum of all outcomes', () => {
  const LOSSES = ['timeout', 'reset', 'closedEarly'] as const;

  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'is the number of requests sent at every step of random sequence %d',
    (seed) => {
      const random = createRandom(seed);
      const ledger = createLedger(random.coin() ? [EXPECTED] : undefined, 1 + random.below(4));
      const slots = Array.from({ length: 1 + random.below(20) }, () => ledger.addSlot());
      // Counted independently: the requests that began and ended since the window opened.
      let begun = 0;
      let ended = 0;
      let windows: 'before' | 'open' | 'over' = 'before';
      ledger.onClose = () => {
        expect(windows).toBe('open');
        windows = 'over';
      };
      const steps = 300 + random.below(300);
      for (let step = 0; step < steps; step++) {
        now += random.float();
        const slot = slots[random.below(slots.length)]!;
        if (windows === 'before' && random.below(100) === 0) {
          ledger.open(random.coin() ? 20 : 1e9);
          windows = 'open';
          begun = ledger.countInFlight();
        } else if (windows === 'open' && random.below(150) === 0) {
          ledger.close();
        } else if (!slot.pending) {
          ledger.send(slot);
          if (windows === 'open') begun++;
        } else if (random.below(3) > 0) {
          for (let piece = random.below(3); piece > 0; piece--)
            ledger.receive(slot, random.coin() ? RIGHT : WRONG);
          ledger.complete(slot, random.below(9) === 0 ? 500 : 200, random.float() * 9);
          if (windows === 'open') ended++;
        } else {
          ledger.lose(slot, LOSSES[random.below(3)]!);
          if (windows === 'open') ended++;
        }
        const inFlight = ledger.countInFlight();
        expect(ledger.lifetime.sent).toBe(sumOf(ledger.lifetime) + inFlight);
        expect(ledger.account.counts.sent).toBe(
          sumOf(ledger.account.counts) + (windows === 'open' ? inFlight : 0),
        );
        const counted = [
          ledger.account.counts.sent,
          sumOf(ledger.account.counts) - ledger.account.counts.inFlight,
        ];
        expect(counted).toEqual([begun, ended]);
      }
      ledger.close();
      expect(ledger.account.counts.sent).toBe(sumOf(ledger.account.counts));
      const answers = Object.values(ledger.account.statusCodes).reduce((sum, count) => sum + count, 0);
      expect(answers).toBe(
        ledger.account.counts.ok + ledger.account.counts.non2xx + ledger.account.counts.mismatch,
      );
      expect(ledger.account.slices.ok.reduce((sum, count) => sum + count, 0)).toBe(ledger.account.counts.ok);
      expect(ledger.account.latencies.histogram.totalCount).toBeLessThanOrEqual(ledger.account.counts.ok);
      expect(ledger.account.counts.ok - ledger.account.latencies.histogram.totalCount).toBeLessThanOrEqual(
        ledger.standing,
      );
      expect(ledger.standing).toBe(slots.filter(({ isEstablished }) => isEstablished).length);
    },
  );
});

/** Returns the outcome that one response is counted as. */
function outcomeOf(given: { status?: number; body?: Buffer }, expected: ExpectedBody | undefined = EXPECTED) {
  const ledger = createLedger(expected && [expected], 1);
  answer(ledger, ledger.addSlot(), given);
  return Object.entries(ledger.lifetime).filter(([name, count]) => name !== 'sent' && count > 0);
}

describe('the outcome of a response', () => {
  it('is right by its status, length and hash', () => {
    expect(outcomeOf({})).toEqual([['ok', 1]]);
    expect(outcomeOf({ status: 299 })).toEqual([['ok', 1]]);
  });

  it.each([199, 300, 404, 500])('is wrong with status %d, whatever its body', (status) => {
    expect(outcomeOf({ status })).toEqual([['non2xx', 1]]);
    expect(outcomeOf({ status, body: WRONG })).toEqual([['non2xx', 1]]);
  });

  it('is wrong with another length, or other bytes of the same length', () => {
    expect(outcomeOf({ body: Buffer.from('["righ"]') })).toEqual([['mismatch', 1]]);
    expect(outcomeOf({ body: Buffer.alloc(0) })).toEqual([['mismatch', 1]]);
    expect(outcomeOf({ body: WRONG })).toEqual([['mismatch', 1]]);
  });

  it('is right with any body if none is expected', () => {
    const ledger = createLedger(undefined, 1);
    answer(ledger, ledger.addSlot(), { body: WRONG });
    expect(ledger.lifetime.ok).toBe(1);
    expect(ledger.account.bodiesHashed).toBe(0);
  });

  it('is decided by every byte of every body, over all its packets', () => {
    const ledger = createLedger([EXPECTED], 1000);
    const slot = ledger.addSlot();
    const inPieces = (body: Buffer): void => {
      ledger.send(slot);
      for (const byte of body) ledger.receive(slot, Buffer.from([byte]));
      ledger.complete(slot, 200, 1);
    };
    for (const body of [RIGHT, RIGHT, WRONG, RIGHT]) inPieces(body);
    for (const body of [WRONG, RIGHT, Buffer.concat([RIGHT, RIGHT])]) answer(ledger, slot, { body });
    expect(ledger.lifetime).toMatchObject({ ok: 4, mismatch: 3 });
    expect(ledger.account.bodiesHashed).toBe(7);
  });

  it('is found wrong every 32nd time, in step with any number of connections', () => {
    expect(countWrong()).toBe(200);
    // One in 16 of 200 is 12.5; the choice is the same every time.
    expect(countWrong(0)).toBeGreaterThan(4);
  });

  it('is decided by the request of the cycle that it answers', () => {
    const other = { bytes: 3, sha256: createHash('sha256').update('[2]').digest('hex') };
    const ledger = createLedger([EXPECTED, other], 1);
    const slot = ledger.addSlot();
    slot.request = 1;
    answer(ledger, slot, { body: Buffer.from('[2]') });
    answer(ledger, slot, { body: RIGHT });
    expect(ledger.lifetime).toMatchObject({ ok: 1, mismatch: 1 });
  });

  it('does not depend on an earlier answer that was cut off', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    ledger.send(slot);
    ledger.receive(slot, RIGHT.subarray(0, 4));
    ledger.lose(slot, 'reset');
    answer(ledger, slot, {});
    expect(ledger.lifetime).toMatchObject({ sent: 2, ok: 1, reset: 1, mismatch: 0 });
  });
});

describe('the load before the window', () => {
  it('is kept in slices of the time under load, and all responses until then are counted', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    answer(ledger, slot, { status: 500 });
    ledger.beginWarmup();
    answer(ledger, slot);
    now += 160;
    answer(ledger, slot);
    answer(ledger, slot, { body: WRONG });
    ledger.endWarmup();
    // Between a warm-up and the next load no slice grows: the server rests, and another one has its turn.
    now += 400;
    answer(ledger, slot);
    ledger.beginWarmup();
    now += 40;
    answer(ledger, slot);
    now += 70;
    ledger.endWarmup();
    expect(ledger.warmup).toEqual({ milliseconds: 50, ok: [1, 0, 0, 1, 1] });
    expect(ledger.report().warmup?.answers).toBe(6);
    ledger.open(100);
    answer(ledger, slot);
    ledger.close();
    expect(ledger.report().warmup?.answers).toBe(6);
  });

  it('ends with the first window, and a window of length 0 does not count', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    answer(ledger, slot);
    ledger.open(0);
    ledger.close();
    answer(ledger, slot);
    ledger.open(100);
    ledger.close();
    ledger.beginWarmup();
    answer(ledger, slot);
    now += 100;
    ledger.endWarmup();
    ledger.open(100);
    ledger.close();
    expect([ledger.report().warmup?.answers, ledger.warmup.ok]).toEqual([2, []]);
  });
});

describe('the window', () => {
  it('counts requests in flight when it opens, and not those in flight when it closes', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b] = [ledger.addSlot(), ledger.addSlot()];
    answer(ledger, a);
    ledger.send(a);
    ledger.open(1e9);
    ledger.complete(a, 200, 1);
    ledger.send(a);
    ledger.send(b);
    ledger.close();
    ledger.lose(b, 'timeout');
    expect(ledger.account.counts).toMatchObject({ sent: 3, mismatch: 1, inFlight: 2, timeout: 0 });
    expect(ledger.lifetime).toMatchObject({ sent: 4, timeout: 1 });
  });

  it('notes the first wrong body in it, and none before it', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    answer(ledger, slot, { body: Buffer.from('before') });
    expect(ledger.account.firstWrong).toBeUndefined();
    ledger.open(1e9);
    answer(ledger, slot);
    expect(ledger.account.firstWrong).toBeUndefined();
    for (const body of ['[]', '["later"]']) answer(ledger, slot, { body: Buffer.from(body) });
    expect(ledger.account.firstWrong).toEqual({
      seconds: expect.any(Number) as number,
      bytes: 2,
      rightBytes: EXPECTED.bytes,
    });
  });

  it('closes with the first request that ends after its time, and does not count it', () => {
    for (const end of ['complete', 'lose'] as const) {
      const ledger = createLedger([EXPECTED], 1);
      const [a, b] = [ledger.addSlot(), ledger.addSlot()];
      let closings = 0;
      ledger.onClose = () => closings++;
      ledger.open(500);
      answer(ledger, a);
      ledger.send(a);
      ledger.send(b);
      now += 499.9;
      ledger.lose(b, 'reset');
      expect([closings, ledger.isOpen]).toEqual([0, true]);
      now += 0.1;
      if (end === 'complete') ledger.complete(a, 500, 1);
      else ledger.lose(a, 'timeout');
      expect([closings, ledger.isOpen]).toEqual([1, false]);
      expect(ledger.account.counts).toMatchObject({
        sent: 3,
        ok: 1,
        reset: 1,
        inFlight: 1,
        non2xx: 0,
        timeout: 0,
      });
      ledger.close();
      expect(closings).toBe(1);
    }
  });

  it('records no latency for the first response of a connection, which includes the connect', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    ledger.open(1e9);
    answer(ledger, slot, { ms: 900 });
    answer(ledger, slot, { ms: 5 });
    expect(ledger.account.counts.ok).toBe(2);
    expect([
      ledger.account.latencies.histogram.totalCount,
      ledger.account.latencies.histogram.maxValue,
    ]).toEqual([1, 5000]);
  });

  it('records no latency of a wrong response, and none outside the window', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    answer(ledger, slot);
    answer(ledger, slot);
    ledger.open(1e9);
    answer(ledger, slot, { status: 503 });
    answer(ledger, slot, { body: WRONG });
    ledger.close();
    answer(ledger, slot);
    expect(ledger.account.latencies.histogram.totalCount).toBe(0);
    expect(ledger.account.statusCodes).toEqual({ 200: 1, 503: 1 });
  });

  it('counts correct responses per slice, and 0 in empty slices', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    ledger.open(1e9);
    for (const at of [0, 49.9, 50, 201]) {
      now = 1000 + at;
      answer(ledger, slot);
    }
    ledger.close();
    expect(ledger.account.slices).toMatchObject({ milliseconds: 50, ok: [2, 1, 0, 0, 1] });
    const [first = 0, , empty, , last = 0] = ledger.account.slices.cpuUs;
    expect(ledger.account.slices.cpuUs).toHaveLength(5);
    expect(empty).toBe(0);
    expect(first * last).toBeGreaterThan(0);
  });

  it('measures cycles from one answer to the next, and counts silent connections', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b, c] = [ledger.addSlot(), ledger.addSlot(), ledger.addSlot()];
    for (const slot of [a, b, c]) answer(ledger, slot);
    now += 10;
    ledger.open(1e9);
    for (const step of [2, 3]) {
      now += step;
      answer(ledger, a);
    }
    ledger.send(b);
    now += 4;
    ledger.lose(b, 'reset');
    expect(ledger.account.silentConnections).toBe(0);
    ledger.close();
    expect(ledger.account.cycleUs).toEqual({ sum: 12_000 + 3000 + 19_000, count: 3 });
    expect(ledger.account.silentConnections).toBe(1);
    expect(ledger.lastEndMs()).toBe(1019);
  });

  it('begins with the first window, whatever was open at the ends of the parts of the warm-up', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b] = [ledger.addSlot(), ledger.addSlot()];
    for (let part = 0; part < 3; part++) {
      ledger.beginWarmup();
      for (const slot of [a, b]) ledger.send(slot);
      ledger.open(0);
      ledger.close();
      for (const slot of [a, b]) ledger.complete(slot, 200, 1);
      ledger.endWarmup();
    }
    ledger.open(100);
    answer(ledger, a);
    ledger.send(a);
    now += 100;
    ledger.close();
    expect(ledger.account.counts).toMatchObject({ sent: 2, ok: 1, inFlight: 1 });
    expect(ledger.account.silentConnections).toBe(1);
    expect(ledger.account.bodiesHashed).toBe(ledger.lifetime.ok);
  });

  it('can be forgotten: the next one begins at 0, and the account of the session goes on', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [slot, open] = [ledger.addSlot(), ledger.addSlot()];
    answer(ledger, slot);
    answer(ledger, open);
    ledger.send(open);
    ledger.open(100);
    answer(ledger, slot, { ms: 5 });
    answer(ledger, slot, { status: 500 });
    now += 100;
    ledger.close();
    ledger.settle();
    ledger.restart();
    ledger.open(50);
    answer(ledger, slot, { ms: 7 });
    now += 50;
    ledger.close();
    expect(ledger.account.counts).toMatchObject({ sent: 2, ok: 1, non2xx: 0, inFlight: 1 });
    expect(ledger.account.latencies.histogram.totalCount).toBe(1);
    expect(ledger.account.latencies.histogram.maxValue).toBeGreaterThanOrEqual(7000);
    expect(ledger.account.statusCodes).toEqual({ 200: 1 });
    expect(ledger.account.slices.ok).toEqual([1]);
    expect(ledger.account.bodiesHashed).toBe(1);
    expect(ledger.account.silentConnections).toBe(1);
    expect(startsOf(ledger).started).toBe(1);
    expect(mergeHistograms([ledger.report().openAges ?? '']).totalCount).toBe(1);
    expect(ledger.report().unansweredAges).toBeUndefined();
    expect(ledger.lifetime).toMatchObject({ ok: 4, non2xx: 1 });
  });

  it('can open again: the counts continue, without what happened in between', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b] = [ledger.addSlot(), ledger.addSlot()];
    for (const slot of [a, b]) answer(ledger, slot);
    const closings: number[] = [];
    ledger.onClose = () => closings.push(now);
    ledger.open(500);
    now += 100;
    answer(ledger, a);
    now += 400;
    ledger.send(a);
    ledger.close();
    // Drained, and silent during the turn of another server.
    ledger.receive(a, RIGHT);
    ledger.complete(a, 200, 1);
    now += 2000;
    ledger.wake();
    ledger.open(500);
    now += 300;
    answer(ledger, b);
    answer(ledger, b, { status: 500 });
    now += 300;
    ledger.close();
    expect(closings).toEqual([1500, 4100]);
    expect(ledger.account.counts).toMatchObject({ sent: 4, ok: 2, non2xx: 1, inFlight: 1 });
    expect(ledger.account.counts.sent).toBe(sumOf(ledger.account.counts));
    expect(ledger.account.slices.milliseconds).toBe(50);
    expect(ledger.account.slices.ok).toHaveLength(20);
    expect(ledger.account.slices.ok.flatMap((count, slice) => (count > 0 ? [[slice, count]] : []))).toEqual([
      [2, 1],
      [16, 1],
    ]);
    expect(ledger.account.silentConnections).toBe(0);
    // From the wake-up to the first response, and none to the second: 100 before, 300 after.
    expect(ledger.account.cycleUs).toEqual({ sum: 400_000, count: 3 });
    expect(ledger.lifetime).toMatchObject({ sent: 6, ok: 5, non2xx: 1 });
  });

  it('begins the cycle of a paused connection when it resumes', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slot = ledger.addSlot();
    answer(ledger, slot);
    now += 5000;
    ledger.wake();
    ledger.open(1e9);
    now += 2;
    answer(ledger, slot);
    expect(ledger.account.cycleUs).toEqual({ sum: 2000, count: 1 });
  });
});

/** The least and the most of an encoded histogram, in ms, and how many it holds. */
function rangeOf(ages: string | undefined): [number, number, number] {
  const { minNonZeroValue, maxValue, totalCount } = mergeHistograms(ages === undefined ? [] : [ages]);
  return [Math.round(minNonZeroValue / 1000), Math.round(maxValue / 1000), totalCount];
}

describe('a request that is open when the window closes', () => {
  it('has its age from its start, intended or real, sent or waiting for its connection', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b, c] = [ledger.addSlot(), ledger.addSlot(), ledger.addSlot()];
    a.sentAt = now;
    ledger.send(a);
    b.intendedAt = now - 100;
    b.sentAt = now;
    ledger.begin(b);
    // Not at the end of a part of the warm-up, which has no window.
    ledger.open(0);
    ledger.close();
    ledger.open(500);
    now += 400;
    answer(ledger, c);
    now += 100;
    ledger.close();
    expect(rangeOf(ledger.report().openAges)).toEqual([500, 600, 2]);
    // Due, and without a connection.
    ledger.leave(now - 20);
    expect(rangeOf(ledger.report().openAges)).toEqual([20, 600, 3]);
  });

  it('is unanswered only if no response follows, even if the client gives it up', () => {
    const ledger = createLedger([EXPECTED], 1);
    const slots = Array.from({ length: 4 }, () => ledger.addSlot());
    for (const slot of slots) {
      slot.sentAt = now;
      ledger.send(slot);
    }
    ledger.open(500);
    now += 500;
    ledger.close();
    const [answered, reset, late] = slots as [Slot, Slot, Slot];
    ledger.complete(answered, 200, 500);
    ledger.lose(reset, 'reset');
    now += 4500;
    ledger.lose(late, 'timeout');
    ledger.settle();
    expect(rangeOf(ledger.report().openAges)[2]).toBe(4);
    // The bounds of a bucket of 3 digits.
    expect(rangeOf(ledger.report().unansweredAges)).toEqual([4997, 5001, 2]);
  });

  it('is counted in short turns only if no response follows, whose latency belongs to its turn', () => {
    const ledger = createLedger([EXPECTED], 1);
    ledger.timesByStart = true;
    const [a, b] = [ledger.addSlot(), ledger.addSlot()];
    for (const slot of [a, b]) {
      answer(ledger, slot);
      slot.sentAt = now;
    }
    ledger.open(20);
    ledger.send(a);
    ledger.send(b);
    now += 20;
    ledger.close();
    now += 5;
    ledger.receive(a, RIGHT);
    ledger.complete(a, 200, 25);
    now += 1000;
    ledger.settle();
    expect(ledger.account.latencies.histogram.totalCount).toBe(1);
    expect(rangeOf(ledger.report().openAges)).toEqual([1025, 1025, 1]);
  });
});

describe('the open requests of an open loop', () => {
  it('are averaged over the window, whichever answer belongs to which request', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b] = [ledger.addSlot(), ledger.addSlot()];
    const start = (slot: Slot, at: number): void => {
      ledger.population.begin(at);
      slot.intendedAt = at;
      ledger.send(slot);
    };
    start(a, now - 50);
    ledger.open(100);
    now += 40;
    ledger.receive(a, RIGHT);
    ledger.complete(a, 200, 90);
    start(b, now - 10);
    now += 60;
    ledger.close();
    // 40 ms of the first one, 70 of the second, and it had been due before it was sent.
    expect(startsOf(ledger).meanOpen).toBeCloseTo((40 + 70) / 100, 6);
    expect(startsOf(ledger).started).toBe(1);
  });

  it('are not counted after the time of a window that a pause of the machine closes late', () => {
    const ledger = createLedger([EXPECTED], 1);
    const [a, b] = [ledger.addSlot(), ledger.addSlot()];
    ledger.open(100);
    const opened = now;
    now += 300;
    for (const [slot, at] of [
      [a, 90],
      [b, 250],
    ] as const) {
      ledger.population.begin(opened + at);
      slot.intendedAt = opened + at;
      ledger.send(slot);
    }
    ledger.receive(a, RIGHT);
    ledger.complete(a, 200, 0);
    ledger.close();
    expect(startsOf(ledger).meanOpen).toBeCloseTo(10 / 100, 6);
  });
});

/** Delivers a response that takes half a millisecond to read. */
function take(ledger: Ledger, slot: Slot, sentAt: number): void {
  ledger.arrive(slot);
  now += 0.5;
  ledger.receive(slot, RIGHT);
  ledger.complete(slot, 200, now - sentAt);
}

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** Returns a ledger with an open window and a request on each of this many connections. */
function ledgerOf(connections: number): { ledger: Ledger; slots: Slot[] } {
  const ledger = createLedger([EXPECTED], 1);
  const slots = Array.from({ length: connections }, () => ledger.addSlot());
  for (const slot of slots) answer(ledger, slot);
  ledger.open(1e9);
  for (const slot of slots) ledger.send(slot);
  return { ledger, slots };
}

describe('the time that answers report', () => {
  it('is recorded with the rest of the latency, for the same responses', () => {
    const { ledger, slots } = ledgerOf(3);
    const [a, b, silent] = slots as [Slot, Slot, Slot];
    const fresh = ledger.addSlot();
    ledger.send(fresh);
    for (const slot of [a, b, fresh]) slot.toldMs = 3;
    const sentAt = now;
    now += 5;
    for (const slot of [a, silent, fresh]) take(ledger, slot, sentAt);
    ledger.receive(b, RIGHT);
    ledger.complete(b, 500, 5);
    expect(ledger.account.latencies.histogram.totalCount).toBe(2);
    expect(ledger.account.timing?.told.totalCount).toBe(1);
    expect(ledger.account.timing?.told.mean).toBeCloseTo(3000, -1);
    expect(ledger.account.timing?.rest.mean).toBeCloseTo(2000, -1);
  });

  it('is absent if no response reports one', () => {
    const { ledger, slots } = ledgerOf(1);
    take(ledger, slots[0]!, now - 5);
    expect(ledger.account.timing).toBeUndefined();
  });
});

describe('the latency of responses that one poll found', () => {
  it('ends when the first of them is delivered', async () => {
    const { ledger, slots } = ledgerOf(4);
    const sentAt = now;
    now += 5;
    for (const slot of slots) take(ledger, slot, sentAt);
    expect([
      ledger.account.latencies.histogram.totalCount,
      ledger.account.latencies.histogram.minNonZeroValue,
    ]).toEqual([4, 5000]);
    expect(ledger.account.latencies.histogram.maxValue).toBeLessThan(5008);
    await immediate();
    ledger.send(slots[0]!);
    const again = now;
    now += 7;
    take(ledger, slots[0]!, again);
    expect(ledger.account.latencies.histogram.maxValue).toBeGreaterThanOrEqual(7000);
  });

  it('does not begin before the request was sent, if the loop polls again within a turn', () => {
    const { ledger, slots } = ledgerOf(2);
    const [a, b] = slots as [Slot, Slot];
    take(ledger, a, now - 5);
    ledger.send(a);
    const sentAt = now;
    now += 3;
    take(ledger, a, sentAt);
    expect(ledger.account.latencies.histogram.minNonZeroValue).toBeGreaterThanOrEqual(3000);
    take(ledger, b, sentAt);
    expect(ledger.account.latencies.histogram.maxValue).toBeLessThan(5008);
  });

  it('begins at the intended time in an open loop', () => {
    const { ledger, slots } = ledgerOf(2);
    const sentAt = now;
    for (const slot of slots) {
      slot.intendedAt = now - 20;
      slot.lateMs = 8;
      ledger.send(slot);
    }
    now += 5;
    for (const slot of slots) take(ledger, slot, sentAt);
    expect(ledger.account.latencies.histogram.minNonZeroValue).toBeGreaterThan(24_900);
    expect(ledger.account.latencies.histogram.maxValue).toBeLessThan(25_100);
    expect(mergeHistograms([ledger.report().sinceSentHistogram ?? '']).getValueAtPercentile(50)).toBeCloseTo(
      17_000,
      -2,
    );
  });
});

/** One connection whose requests last 10 ms, but each third one 40 ms, in windows of 20 ms that begin after 10 ms of load. */
function loadInShortWindows(timesByStart: boolean): Ledger {
  const ledger = createLedger([EXPECTED], 1);
  ledger.timesByStart = timesByStart;
  const slot = ledger.addSlot();
  let request = 0;
  const ask = () => {
    const ms = request++ % 3 === 2 ? 40 : 10;
    ledger.send(slot);
    ledger.receive(slot, RIGHT);
    now += ms;
    ledger.complete(slot, 200, ms);
  };
  for (let turn = 0; turn < 300; turn++) {
    ledger.wake();
    ask();
    ledger.open(20);
    // The response that comes after its time closes the window.
    while (ledger.isOpen) ask();
    now += 5;
  }
  return ledger;
}

describe('short windows', () => {
  it('omit slow responses if latencies belong to the window in which they end', () => {
    expect(loadInShortWindows(false).account.latencies.histogram.maxValue / 1000).toBeCloseTo(10, 0);
  });

  it('keep slow responses if latencies belong to the window in which they began', () => {
    const { latencies, cycleUs } = loadInShortWindows(true).account;
    const { histogram } = latencies;
    expect(histogram.maxValue / 1000).toBeCloseTo(40, 0);
    expect(cycleUs.count).toBe(histogram.totalCount);
    expect(cycleUs.sum / cycleUs.count).toBeGreaterThan(15_000);
  });
});

describe('the bodies of a route with rows', () => {
  it.each([2, 16, 48, 64, 100])('without room, are hashed for each of %d rows, one in 16 in all', (count) => {
    const rows = Array.from({ length: count }, () => EXPECTED);
    const requests = rows.map(() => ({ method: 'GET', path: '/', headers: {} }));
    const routes = [{ first: 0, count, statuses: ['2xx' as const] }];
    const ledger = new Ledger({ expected: rows, hashEvery: 16, requests, routes }, undefined, undefined, 0);
    const slot = ledger.addSlot();
    const seen = new Set<number>();
    const passes = 400;
    for (let index = 0; index < passes * count; index++) {
      slot.request = index % count;
      const before = ledger.account.bodiesHashed;
      answer(ledger, slot);
      if (ledger.account.bodiesHashed > before) seen.add(slot.request);
    }
    expect(seen.size).toBe(count);
    const usual = (passes * count) / 16;
    // Five standard deviations; the choice is the same every time.
    expect(Math.abs(ledger.account.bodiesHashed - usual)).toBeLessThan(5 * Math.sqrt(usual));
  });
});

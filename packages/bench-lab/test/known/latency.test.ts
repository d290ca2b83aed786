import { describe, expect, it } from 'vitest';
import {
  ASKED_AFTER,
  ASKED_BEFORE,
  accountOf,
  loadOf,
  medianOf,
  openRig,
  reasonOf,
  reasonsOf,
  type Seen,
} from './rig.ts';

const rig = openRig();

const SOUND = ['--sound-first', String(ASKED_BEFORE)];

describe('a planted delay', () => {
  it('is measured as no less, and not as a multiple', async () => {
    const ms = 100;
    const seen = await rig.measure({
      planted: [...SOUND, '--delay-ms', String(ms)],
      bench: ['--connections', '10', '--duration', '1.2'],
    });
    const { latencyUs, counts, windowSeconds } = loadOf(seen);
    expect(latencyUs?.p50).toBeGreaterThanOrEqual(ms * 1000);
    expect(latencyUs?.mean).toBeGreaterThanOrEqual(ms * 1000);
    expect(latencyUs?.p50).toBeLessThan(1.75 * Number(accountOf(seen).latencyUs.p50));
    // In a closed loop no connection can be answered more often than its delay allows.
    expect(counts.ok).toBeGreaterThan(0);
    expect(counts.ok).toBeLessThanOrEqual(10 * (1 + (windowSeconds * 1000) / ms));
    expect(reasonsOf(seen)).toEqual([]);
  });
});

describe('one stall', () => {
  it('is the maximum, and raises the percentiles of the requests that it delayed', async () => {
    const connections = 40;
    const amount = 2000;
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '500', '--stall-ms', '1000'],
      bench: ['--connections', String(connections), '--amount', String(amount)],
    });
    const { stall } = accountOf(seen);
    const { latencyUs, counts } = loadOf(seen);
    expect(counts).toMatchObject({ sent: amount, ok: amount });
    expect(stall).toMatchObject({ atRequest: 500, connectionsOpen: connections });
    expect(stall?.ms).toBeGreaterThanOrEqual(1000);
    expect(latencyUs?.max).toBeGreaterThanOrEqual(0.9 * 1e6);
    // It delayed one request per connection, 2 % of all: those beyond p98.
    expect(latencyUs?.p99).toBeGreaterThanOrEqual(0.5 * 1e6);
    expect(latencyUs?.p90).toBeLessThan(0.5 * 1e6);
    expect(reasonsOf(seen)).toEqual([]);
  });
});

describe('one stall of a few connections', () => {
  it('is named as one, because no percentile shows it', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '1500', '--stall-ms', '600'],
      bench: ['--connections', '4', '--amount', '4000'],
    });
    const { latencyUs } = loadOf(seen);
    expect(latencyUs?.max).toBeGreaterThanOrEqual(0.5 * 1e6);
    expect(latencyUs?.p99).toBeLessThan(0.05 * 1e6);
    // One of each connection, and those that a pause of a busy machine delays too. The limit grows with the tail.
    const [, count] = /^(\d+) responses stalled for up to [\d.]+ ms/.exec(reasonOf(seen, 'stall').text) ?? [];
    expect(Number(count)).toBeGreaterThanOrEqual(4);
    expect(Number(count)).toBeLessThanOrEqual(12);
  });
});

describe('one stall under an open loop', () => {
  it('delays every request that was due during it', async () => {
    const [rate, seconds, connections] = [400, 4, 20];
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '400', '--stall-ms', '1000'],
      bench: ['--connections', String(connections), '--rate', String(rate), '--duration', String(seconds)],
    });
    const { latencyUs, schedule, engine, windowSeconds } = loadOf(seen);
    expect(engine).toBe('autocannon');
    expect(accountOf(seen).stall?.ms).toBeGreaterThanOrEqual(1000);
    // 400 of 1,600 starts fell into the second: of all, (1 − x)/4 waited longer than x seconds.
    expect(latencyUs?.p90).toBeGreaterThanOrEqual(0.5 * 1e6);
    expect(latencyUs?.p99).toBeGreaterThanOrEqual(0.9 * 1e6);
    // All but the 20 that found a free connection were sent late.
    expect(schedule?.late).toBeGreaterThanOrEqual(300);
    expect(Math.abs((schedule?.intended ?? 0) - rate * windowSeconds)).toBeLessThanOrEqual(1);
    // A pause of a busy machine just before the end leaves requests waiting, but fewer than the stall delayed.
    expect(schedule?.dropped).toBeLessThanOrEqual(rate / 2);
    expect(reasonsOf(seen).filter((code) => code !== 'overrun')).toEqual([]);
  });
});

describe('stalls at intervals under an open loop', () => {
  it('delay as many requests as are due during them, though few find a free connection', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-every', '500', '--stall-ms', '250'],
      bench: ['--connections', '5', '--rate', '200', '--duration', '2'],
    });
    const { latencyUs } = loadOf(seen);
    const { stalls } = accountOf(seen);
    expect(stalls).toMatchObject({ everyMs: 500, ms: 250 });
    expect(stalls?.held).toBeGreaterThanOrEqual(3 * 5);
    // 250 − 0.1 × 500 ms, by `latencyOfStalls`.
    expect(latencyUs?.p90).toBeGreaterThanOrEqual(0.9 * 200_000);
    expect(latencyUs?.p75).toBeGreaterThanOrEqual(0.75 * 125_000);
  });
});

/** Expects as many unanswered requests as the server counted, save those after the load. */
function expectUnanswered(seen: Seen): void {
  const { abandoned } = accountOf(seen).requests;
  const { unanswered, lifetime } = loadOf(seen);
  expect(unanswered?.count).toBe(lifetime.timeout + lifetime.inFlight);
  expect(abandoned).toBeGreaterThanOrEqual(unanswered?.count ?? Infinity);
  expect(abandoned).toBeLessThanOrEqual((unanswered?.count ?? 0) + ASKED_AFTER);
}

describe('requests that are without a response', () => {
  it('enter the percentiles of an open loop with their age, and are counted', async () => {
    const seen = await rig.measure({
      // The first responses of all connections, and those before the load.
      planted: ['--sound-first', String(ASKED_BEFORE + 300), '--unanswered-every', '5'],
      bench: ['--connections', '300', '--rate', '400', '--duration', '2'],
    });
    const { latencyUs, schedule } = loadOf(seen);
    expectUnanswered(seen);
    expect(latencyUs?.atLeast).toEqual(expect.arrayContaining(['p90', 'max']));
    expect(latencyUs?.p90).toBeGreaterThan(0.2 * 1e6);
    expect(latencyUs?.p50).toBeLessThan(0.1 * 1e6);
    expect(schedule?.meanOpen).toBeGreaterThan(50);
    expect(reasonsOf(seen)).toContain('unanswered');
    expect(reasonOf(seen, 'unanswered').invalidates).toEqual([]);
  });

  it('are counted in a closed loop, even if few connections hang', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--delay-ms', '20', '--unanswered-every', '700'],
      // The first of them is then older than any response that a pause of the machine delays.
      bench: ['--connections', '20', '--duration', '2.2'],
    });
    expectUnanswered(seen);
    expect(loadOf(seen).latencyUs?.atLeast).toContain('max');
    expect(reasonsOf(seen)).toContain('unanswered');
  });
});

describe('latency of a server that drops connections', () => {
  it('is that of one try of each request: two would take twice as long', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--delay-ms', '100', '--reset-every', '5'],
      bench: ['--connections', '10', '--amount', '100'],
    });
    expect(loadOf(seen).counts.reset).toBeGreaterThanOrEqual(100 / 5 - 1);
    expect(medianOf(seen)).toBeGreaterThanOrEqual(100_000);
    expect(medianOf(seen)).toBeLessThan(1.75 * Number(accountOf(seen).latencyUs.p50));
  });
});

import { describe, expect, it } from 'vitest';
import { ASKED_BEFORE, accountOf, loadOf, openRig, reasonsOf } from './rig.ts';

const rig = openRig();

const SOUND = ['--sound-first', String(ASKED_BEFORE)];

describe('a planted delay', () => {
  it.each([5, 50])('of %i ms is never seen as less, nor as a multiple', async (ms) => {
    const seen = await rig.measure({
      planted: [...SOUND, '--delay-ms', String(ms)],
      bench: ['--connections', '10', '--duration', '0.8'],
    });
    const { latencyUs, counts, windowSeconds } = loadOf(seen);
    expect(latencyUs?.p50).toBeGreaterThanOrEqual(ms * 1000);
    expect(latencyUs?.mean).toBeGreaterThanOrEqual(ms * 1000);
    expect(latencyUs?.p50).toBeLessThan(4 * Number(accountOf(seen).latencyUs.p50));
    // In a closed loop no connection can be answered more often than its delay allows.
    expect(counts.ok).toBeGreaterThan(0);
    expect(counts.ok).toBeLessThanOrEqual(10 * (1 + (windowSeconds * 1000) / ms));
    expect(reasonsOf(seen)).toEqual([]);
  });
});

describe('one stall', () => {
  it('is in the maximum whole, and in the percentiles by as many requests as it held', async () => {
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
    // It held one request of each connection, 2 % of all: those beyond p98.
    expect(latencyUs?.p99).toBeGreaterThanOrEqual(0.5 * 1e6);
    expect(latencyUs?.p90).toBeLessThan(0.5 * 1e6);
    expect(reasonsOf(seen)).toEqual([]);
  });
});

describe('one stall under an open loop', () => {
  it('is felt by every start that fell into it, as arithmetic says', async () => {
    const [rate, seconds, connections] = [400, 4, 20];
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '400', '--stall-ms', '1000'],
      bench: ['--connections', String(connections), '--rate', String(rate), '--duration', String(seconds)],
    });
    const { latencyUs, schedule, engine } = loadOf(seen);
    expect(engine).toBe('autocannon');
    expect(accountOf(seen).stall?.ms).toBeGreaterThanOrEqual(1000);
    // 400 of 1,600 starts fell into the second: of all, (1 − x)/4 waited longer than x seconds.
    expect(latencyUs?.p90).toBeGreaterThanOrEqual(0.5 * 1e6);
    expect(latencyUs?.p99).toBeGreaterThanOrEqual(0.9 * 1e6);
    // All but the twenty that connections were free for left late.
    expect(schedule?.late).toBeGreaterThanOrEqual(300);
    expect(Math.abs((schedule?.intended ?? 0) - rate * seconds)).toBeLessThanOrEqual(rate / 10);
    expect(reasonsOf(seen)).toEqual([]);
  });
});

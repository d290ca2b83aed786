import { describe, expect, it } from 'vitest';
import { locateThreshold, type Shares } from '../src/threshold.ts';

/** The share of requests above a time in M/M/1: exp(−(pace − rate) · time). */
const tail = (perSecond: number): number => Math.exp(-(500 - perSecond) * 0.05);
/** The rate at which that is 1 %. */
const TRUE_RATE = 500 - Math.log(100) / 0.05;

function seen(rates: readonly number[], requests = 4000): Shares[] {
  return rates.map((perSecond) => ({
    perSecond,
    requests,
    counted: Math.round(requests * Math.min(1, tail(perSecond))),
  }));
}

const locate = (shares: readonly Shares[], start = 350) => locateThreshold(shares, () => 0.01, start);

describe('a threshold', () => {
  it('is where the share reaches its level, whatever rates were tried', () => {
    for (const rates of [
      [380, 400, 420],
      [300, 400, 440],
      [350, 390, 395, 430, 600],
    ]) {
      expect(locate(seen(rates)).perSecond / TRUE_RATE).toBeCloseTo(1, 1);
      expect(Math.abs(Math.log(locate(seen(rates)).perSecond / TRUE_RATE))).toBeLessThan(0.03);
    }
  });

  it('is known better after more requests', () => {
    const [few, many] = [200, 20_000].map((requests) => locate(seen([390, 400, 420], requests)).deviation);
    expect(many).toBeLessThan((few as number) / 3);
  });

  it('lies above rates that no request breaks, and below those that all do', () => {
    const none = { perSecond: 300, requests: 1000, counted: 0 };
    const all = { perSecond: 300, requests: 1000, counted: 1000 };
    expect(locate([none], 300).perSecond).toBeGreaterThan(330);
    expect(locate([all], 300).perSecond).toBeLessThan(200);
  });

  it('does not depend on where the search began', () => {
    const rates = seen([380, 400, 420]);
    expect(locate(rates, 200).perSecond).toBeCloseTo(locate(rates, 600).perSecond, 0);
  });
});

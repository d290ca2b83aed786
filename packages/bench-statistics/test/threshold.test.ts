import { describe, expect, it } from 'vitest';
import {
  locateThreshold,
  locateTogether,
  type Around,
  type SharedThreshold,
  type Shares,
  type Threshold,
} from '../src/threshold.ts';

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

const atLevel = () => 0.01;
const locate = (shares: readonly Shares[], start = 350, given: { isRough?: boolean; around?: Around } = {}) =>
  locateThreshold(shares, atLevel, { start, limitSeconds: 0.05, isRough: true, ...given });

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

  it('is known less well if counts may come in bursts', () => {
    const shares = seen([380, 400, 420]);
    const [rough, usual] = [true, false].map((isRough) => locate(shares, 350, { isRough }).deviation);
    expect(usual).toBeGreaterThan(1.5 * (rough ?? Infinity));
  });

  it('is near where others found it if a share says nothing of how far above it is', () => {
    const none = { perSecond: 400, requests: 2000, counted: 0 };
    const around = { perSecond: 400, deviation: 0.05 };
    const [alone, near] = [{}, { around }].map((given) =>
      locate([none], 400, { isRough: false, ...given }),
    ) as [Threshold, Threshold];
    expect(alone.perSecond).toBeGreaterThan(430);
    expect(near.perSecond).toBeLessThan(425);
    expect(near.perSecond).toBeGreaterThan(400);
  });

  it('does not follow how many responses are slow far above it: a short load shows fewer of them than a long one', () => {
    const near = seen([390, 405]);
    const [short, long] = [0.6, 0.97].map((share) =>
      locate([...near, { perSecond: 480, requests: 2000, counted: 2000 * share }], 400),
    ) as [Threshold, Threshold];
    expect(Math.abs(Math.log(short.perSecond / long.perSecond))).toBeLessThan(0.005);
    expect(short.slope).toBeGreaterThan(0.7 * long.slope);
  });

  it('stays near rates that disagree, as bursts do, instead of far below them', () => {
    const shares = [0.065, 0.082, 0.006].map((share, index) => ({
      perSecond: 5940 + 20 * index,
      requests: 30_000,
      counted: 30_000 * share,
    }));
    const { perSecond } = locateThreshold(shares, atLevel, { start: 5940, limitSeconds: 0.02 });
    expect(perSecond).toBeGreaterThan(5600);
    expect(perSecond).toBeLessThan(6000);
  });

  it('is flatter than usual if a share of the responses is slow at any rate', () => {
    const flat = [385, 400, 415].map((perSecond) => ({ perSecond, requests: 40_000, counted: perSecond }));
    expect(locate(flat).slope).toBeLessThan(locate(seen([385, 400, 415], 40_000)).slope / 2);
  });

  it('does not depend on where the search began', () => {
    const rates = seen([380, 400, 420]);
    expect(locate(rates, 200).perSecond).toBeCloseTo(locate(rates, 600).perSecond, 0);
  });
});

const together = (trials: readonly Shares[][], spread = 0.03): SharedThreshold =>
  locateTogether(trials, atLevel, { start: 400, limitSeconds: 0.05, spread });
const slowed = (times: number): Shares[] =>
  seen([400, 415], 20_000).map((one) => ({ ...one, perSecond: one.perSecond / times }));

describe('the threshold of several trials', () => {
  it('is theirs if they agree, with the slope of M/M/1', () => {
    const { perSecond, steepness } = together([slowed(1), slowed(1), slowed(1)]);
    expect(Math.abs(Math.log(perSecond / TRUE_RATE))).toBeLessThan(0.02);
    expect(steepness).toBeGreaterThan(0.7);
    expect(steepness).toBeLessThan(1.5);
  });

  it('is in their middle if servers have another pace in each, and its slope as steep', () => {
    const alike = together([slowed(1), slowed(1), slowed(1)]);
    const apart = together([slowed(0.96), slowed(1), slowed(1.04)]);
    expect(Math.abs(Math.log(apart.perSecond / alike.perSecond))).toBeLessThan(0.015);
    expect(apart.steepness).toBeGreaterThan(0.75 * alike.steepness);
  });

  it('adds the counts of trials of which most saw no burst', () => {
    const burst = { perSecond: 408, requests: 20_000, counted: 600 };
    const none = { ...burst, counted: 0 };
    const { perSecond } = together([[burst], [none], [none]]);
    expect(Math.abs(Math.log(perSecond / 408))).toBeLessThan(0.02);
  });

  it('is known without each of them', () => {
    const { perSecond, without } = together([slowed(1), slowed(1), slowed(1.1)]);
    expect(without).toHaveLength(3);
    expect(without[2]).toBeGreaterThan(perSecond);
    expect(without[0]).toBeLessThan(perSecond);
  });
});

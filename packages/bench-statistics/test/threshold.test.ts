import { describe, expect, it } from 'vitest';
import { learnGrowth, locateThreshold, type Growth, type Shares } from '../src/threshold.ts';

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
const independent: Growth = { steepness: 1, dispersion: 1 };
const locate = (shares: readonly Shares[], start = 350, growth = independent) =>
  locateThreshold(shares, atLevel, { start, pace: 500, growth });

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

  it('is known less well if counts come in bursts', () => {
    const shares = seen([380, 400, 420]);
    const [usual, bursts] = [1, 10].map((dispersion) => locate(shares, 350, { ...independent, dispersion }));
    expect(bursts?.deviation).toBeGreaterThan(1.5 * (usual?.deviation ?? Infinity));
  });

  it('does not depend on where the search began', () => {
    const rates = seen([380, 400, 420]);
    expect(locate(rates, 200).perSecond).toBeCloseTo(locate(rates, 600).perSecond, 0);
  });
});

const learn = (shares: readonly Shares[]): Growth => learnGrowth(shares, atLevel, { start: 400, pace: 500 });

describe('the growth of a share', () => {
  const rates = [385, 400, 415, 385, 400, 415, 385, 400, 415, 385, 400, 415];

  it('is the usual one without any steps', () => {
    expect(learn([]).dispersion).toBeGreaterThan(10);
  });

  it('has the dispersion of its counts: little of independent requests, more of bursts', () => {
    const independently = learn(seen(rates)).dispersion;
    const bursts = learn(
      seen(rates).map((one, index) => ({ ...one, counted: index % 4 === 0 ? 4 * one.counted : 0 })),
    );
    expect(independently).toBeLessThan(4);
    expect(bursts.dispersion).toBeGreaterThan(2 * independently);
  });

  it('is flatter than usual if a share of the answers is slow at any rate', () => {
    const flat = learn(rates.map((perSecond) => ({ perSecond, requests: 40_000, counted: perSecond })));
    expect(flat.steepness).toBeLessThan(learn(seen(rates, 40_000)).steepness / 2);
  });
});

import { describe, expect, it } from 'vitest';
import { findTrend, findTrends, logRatios } from '../../src/judge/trend.ts';
import { createRandom } from 'bench-statistics/random';

const TRIES = 400;

/** The share of series of this length, with this change over them, in which a trend is found. */
function shareFound(
  length: number,
  change: number,
  { correlation = 0, isBursty = false, noise: deviation = 0.04 } = {},
): number {
  const random = createRandom(3);
  let found = 0;
  for (let trial = 0; trial < TRIES; trial++) {
    let noise = random.normal();
    const logs = Array.from({ length }, (_, at) => {
      const burst = isBursty && random.float() < 0.1 ? 0.5 * random.normal() : 0;
      noise = correlation * noise + Math.sqrt(1 - correlation ** 2) * random.normal();
      return (Math.log(1 + change) * at) / (length - 1) + deviation * noise + burst;
    });
    if (findTrend(logs) !== undefined) found++;
  }
  return found / TRIES;
}

describe('a trend in the ratio of a duel', () => {
  it('is rarely found in pure noise', () => {
    for (const length of [16, 24, 100]) {
      expect(shareFound(length, 0)).toBeLessThanOrEqual(0.01);
      expect(shareFound(length, 0, { isBursty: true })).toBeLessThanOrEqual(0.01);
      expect(shareFound(length, 0, { correlation: 0.3 })).toBeLessThanOrEqual(0.01);
    }
  });

  it.each([0.8, 0.9])('is rarely found in noise that is autocorrelated by %d', (correlation) => {
    for (const length of [16, 24, 50, 100]) {
      expect(shareFound(length, 0, { correlation })).toBeLessThanOrEqual(0.02);
      // Ten times the noise: the least change that matters is then no hurdle.
      expect(shareFound(length, 0, { correlation, noise: 0.4 })).toBeLessThanOrEqual(0.02);
    }
  });

  it('is found if the ratio changes enough for its noise, even with bursts', () => {
    expect(shareFound(24, 0.1, { noise: 0.01 })).toBeGreaterThan(0.7);
    expect(shareFound(50, 0.1, { noise: 0.02 })).toBeGreaterThan(0.95);
    expect(shareFound(50, -0.2)).toBeGreaterThan(0.95);
    expect(shareFound(100, 0.2, { isBursty: true })).toBeGreaterThan(0.95);
  });

  it('is found as rarely if many servers are tested at once', () => {
    const random = createRandom(5);
    let found = 0;
    for (let trial = 0; trial < TRIES; trial++) {
      const costs = Array.from({ length: 20 }, () =>
        Array.from({ length: 24 }, () => Math.exp(0.2 * random.normal())),
      );
      if (findTrends(costs).length > 0) found++;
    }
    expect(found / TRIES).toBeLessThanOrEqual(0.01);
  });

  it('is ignored if it is significant but small', () => {
    expect(findTrend(Array.from({ length: 100 }, (_, at) => at * 1e-4))).toBeUndefined();
  });

  it('is returned as the factor from the first to the last ratio', () => {
    const logs = Array.from({ length: 21 }, (_, at) => (Math.log(0.5) * at) / 20);
    expect(findTrend(logs)).toBeCloseTo(0.5);
    expect(findTrend(logs.slice(0, 9))).toBeUndefined();
  });

  it('names the one of several servers that changes, whatever the machine does to all', () => {
    const weather = Array.from({ length: 40 }, (_, turn) => 1 + 0.5 * Math.sin(turn / 5));
    const costs = [10, 20, 40].map((cost) => weather.map((pace) => cost * pace));
    expect(findTrends(costs)).toEqual([]);
    const rising = weather.map((pace, turn) => 15 * pace * (1 + turn / 78));
    expect(findTrends([...costs, rising])).toEqual([{ side: 3, change: expect.closeTo(1.5, 1) as number }]);
  });

  it('names one of two servers, of which either may change, and none if there is only one', () => {
    const flat = Array.from({ length: 40 }, () => 10);
    const rising = flat.map((cost, turn) => cost * (1 + turn / 78));
    expect(findTrends([rising, flat])).toEqual([{ side: 1, change: expect.closeTo(1 / 1.5, 1) as number }]);
    expect(findTrends([rising])).toEqual([]);
  });

  it('needs no cost of a server that has failed', () => {
    const flat = Array.from({ length: 40 }, () => 10);
    expect(findTrends([flat, flat, [], flat.map(() => Number.NaN)])).toEqual([]);
  });

  it('omits turns without a cost', () => {
    expect(logRatios([2, Number.NaN, 4, 8], [1, 1, 0, 4])).toEqual([Math.log(2), Math.log(2)]);
  });
});

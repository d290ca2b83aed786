import { describe, expect, it } from 'vitest';
import { findTrends } from '../../src/judge/trend.ts';
import { createRandom } from 'bench-statistics/random';

const TRIES = 400;

describe('a trend in the ratios of servers', () => {
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
    const unknown = [Number.NaN, 0, ...rising];
    expect(findTrends([unknown, [10, 10, ...flat]])).toHaveLength(1);
  });

  it('needs no cost of a server that has failed', () => {
    const flat = Array.from({ length: 40 }, () => 10);
    expect(findTrends([flat, flat, [], flat.map(() => Number.NaN)])).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { createRandom } from '../src/random.ts';
import { findTrend } from '../src/trend.ts';

const TRIES = 200;

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

describe('a trend', () => {
  it('is rarely found in pure noise', () => {
    for (const length of [16, 24, 100]) {
      expect(shareFound(length, 0)).toBeLessThanOrEqual(0.01);
      expect(shareFound(length, 0, { isBursty: true })).toBeLessThanOrEqual(0.01);
      expect(shareFound(length, 0, { correlation: 0.3 })).toBeLessThanOrEqual(0.01);
    }
  });

  it('is rarely found in noise that is autocorrelated by 0.9', () => {
    const correlation = 0.9;
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

  it('is ignored if it is significant but small', () => {
    expect(findTrend(Array.from({ length: 100 }, (_, at) => at * 1e-4))).toBeUndefined();
  });

  it('is returned as the factor from the first to the last ratio', () => {
    const logs = Array.from({ length: 21 }, (_, at) => (Math.log(0.5) * at) / 20);
    expect(findTrend(logs)).toBeCloseTo(0.5);
    expect(findTrend(logs.slice(0, 9))).toBeUndefined();
  });
});

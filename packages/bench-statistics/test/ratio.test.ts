import { describe, expect, it } from 'vitest';
import { estimateRatio, isKnownTo } from '../src/ratio.ts';
import { createRandom } from '../src/random.ts';

/** Pairs whose true ratio is 1.5, each side with noise of this share. */
function samplePairs(count: number, noise: number, seed = 1): [number, number][] {
  const random = createRandom(seed);
  const spread = () => 1 + noise * (2 * random.float() - 1);
  return Array.from({ length: count }, () => [1.5 * spread(), spread()]);
}

describe('the ratio of pairs', () => {
  it('has an interval that misses the true ratio in about 5 % of samples', () => {
    let missed = 0;
    for (let seed = 0; seed < 400; seed++) {
      const { low = 0, high = 0 } = estimateRatio(samplePairs(12, 0.3, seed));
      if (low > 1.5 || high < 1.5) missed++;
    }
    expect(missed / 400).toBeLessThan(0.08);
    expect(missed).toBeGreaterThan(0);
  });

  it('has no interval with too few pairs', () => {
    const ratio = estimateRatio(samplePairs(3, 0.1));
    expect(ratio.low).toBeUndefined();
    expect(isKnownTo(ratio, 10)).toBe(false);
  });

  it('is known to a share as soon as both ends of the interval are that close', () => {
    expect(isKnownTo({ estimate: 2, low: 1.91, high: 2.09 }, 0.05)).toBe(true);
    expect(isKnownTo({ estimate: 2, low: 1.89, high: 2.01 }, 0.05)).toBe(false);
    expect(isKnownTo({ estimate: 2, low: 1.99, high: 2.11 }, 0.05)).toBe(false);
  });
});

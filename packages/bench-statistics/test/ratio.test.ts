import { describe, expect, it } from 'vitest';
import { estimateRatio } from '../src/ratio.ts';
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
    expect(estimateRatio(samplePairs(5, 0.1)).low).toBeUndefined();
  });

  it('is not moved by a few disturbed pairs', () => {
    const pairs = samplePairs(30, 0.01).map(
      ([one, other], index) => [index % 10 === 0 ? 40 : one, other] as const,
    );
    expect(estimateRatio(pairs).high).toBeLessThan(1.53);
  });
});

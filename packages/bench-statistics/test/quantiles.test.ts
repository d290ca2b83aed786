import { describe, expect, it } from 'vitest';
import { medianAbsoluteDeviation, quantile, robustDeviation } from '../src/quantiles.ts';
import { median } from '../src/numbers.ts';
import { createRandom } from '../src/random.ts';
import { known, roundTo } from '../../bench-analysis/test/known.ts';

describe('quantile', () => {
  it.each(known.quantiles)(
    'equals numpy’s linear quantile for $values.length values',
    ({ values, shares, quantiles }) => {
      expect(shares.map((share) => roundTo(quantile(values, share)))).toEqual(
        quantiles.map((q) => roundTo(q)),
      );
    },
  );

  it('does not reorder the values', () => {
    const values = [3, 1, 2];
    expect(median(values)).toBe(2);
    expect(values).toEqual([3, 1, 2]);
  });

  it('throws without values, and for a share outside 0 to 1', () => {
    expect(() => median([])).toThrow(RangeError);
    expect(() => quantile([1], 1.01)).toThrow(RangeError);
    expect(() => quantile([1], Number.NaN)).toThrow(RangeError);
  });
});

describe('deviation', () => {
  it.each(known.quantiles)(
    'equals scipy’s median_abs_deviation for $values.length values',
    ({ values, deviation }) => {
      expect(roundTo(medianAbsoluteDeviation(values))).toBe(roundTo(deviation));
    },
  );

  it('equals the standard deviation of a normal sample, even if 10 % of it are outliers', () => {
    const random = createRandom(1);
    const sample = Array.from({ length: 20_000 }, (_, i) => 0.03 * random.normal() * (i % 10 === 0 ? 50 : 1));
    expect(robustDeviation(sample.filter((_, i) => i % 10))).toBeCloseTo(0.03, 3);
    expect(robustDeviation(sample)).toBeLessThan(0.035);
  });
});

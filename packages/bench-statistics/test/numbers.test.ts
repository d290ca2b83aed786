import { describe, expect, it } from 'vitest';
import { clamp, mean, median, robustDeviation, sum } from '../src/numbers.ts';
import { createRandom } from '../src/random.ts';
import { known, roundTo } from '../../bench-analysis/test/known.ts';

describe('sum and mean', () => {
  it('accept any sequence of numbers, even an empty one', () => {
    expect(sum(new Float64Array([1, 2, 4]))).toBe(7);
    expect(sum([])).toBe(0);
    expect(mean([1, 2, 6])).toBe(3);
    expect(mean([])).toBeNaN();
  });
});

describe('median', () => {
  it('is the middle value or the mean of the middle two, and does not reorder the values', () => {
    const values = [10, 9, 1, 3];
    expect(median(values)).toBe(6);
    expect(values).toEqual([10, 9, 1, 3]);
    expect(median([10, 9, 2])).toBe(9);
    expect(() => median([])).toThrow(RangeError);
  });

  it('counts NaN as largest', () => {
    expect(median([NaN, 1, 2])).toBe(2);
    expect(median([NaN, NaN, 1])).toBeNaN();
  });
});

describe('clamp', () => {
  it('returns the value, or the bound that it exceeds', () => {
    expect([-1, 3, 9].map((value) => clamp(value, 0, 5))).toEqual([0, 3, 5]);
  });
});

describe('deviation', () => {
  it.each(known.quantiles)(
    'equals scipy’s median_abs_deviation for $values.length values',
    ({ values, deviation }) => {
      expect(roundTo(robustDeviation(values) / 1.4826)).toBe(roundTo(deviation));
    },
  );

  it('equals the standard deviation of a normal sample, even if 10 % of it are outliers', () => {
    const random = createRandom(1);
    const sample = Array.from({ length: 20_000 }, (_, i) => 0.03 * random.normal() * (i % 10 === 0 ? 50 : 1));
    expect(robustDeviation(sample.filter((_, i) => i % 10))).toBeCloseTo(0.03, 3);
    expect(robustDeviation(sample)).toBeLessThan(0.035);
  });
});

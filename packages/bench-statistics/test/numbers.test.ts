import { describe, expect, it } from 'vitest';
import { clamp, mean, median, sum } from '../src/numbers.ts';

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
});

describe('clamp', () => {
  it('returns the value, or the bound that it exceeds', () => {
    expect([-1, 3, 9].map((value) => clamp(value, 0, 5))).toEqual([0, 3, 5]);
  });
});

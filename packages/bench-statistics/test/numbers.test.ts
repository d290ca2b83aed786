import { describe, expect, it } from 'vitest';
import { clamp, mean, median, medianBetween, medianOfSorted, selectRank, sum } from '../src/numbers.ts';
import { createRandom } from '../src/random.ts';

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

  it.each([1, 2, 7, 24, 25, 26, 200])('of %i values is that of the sorted values, NaN last', (count) => {
    const random = createRandom(count);
    for (const share of [0, 0.2]) {
      const values = Array.from({ length: count }, () => (random.float() < share ? NaN : random.below(20)));
      const expected = medianOfSorted(Float64Array.from(values).toSorted());
      expect(median(values)).toBe(expected);
      expect(medianBetween([-1, ...values, 99], 1, count + 1)).toBe(expected);
    }
  });

  it('of a stretch requires a value in it', () => {
    expect(() => medianBetween([1, 2], 1, 1)).toThrow(RangeError);
  });
});

describe('selectRank', () => {
  it.each([3, 1e9])('gives the value of every rank, also among %i different ones', (different) => {
    const random = createRandom(different);
    for (let count = 1; count < 60; count++) {
      const values = Float64Array.from({ length: count }, () => random.below(different));
      const sorted = values.toSorted();
      const reordered = values.slice();
      for (const rank of random.shuffle([...sorted.keys()])) {
        expect(selectRank(reordered, rank)).toBe(sorted[rank]);
        expect(reordered.subarray(0, rank).every((value) => value <= sorted[rank]!)).toBe(true);
        expect(reordered.subarray(rank).every((value) => value >= sorted[rank]!)).toBe(true);
      }
      expect(reordered.toSorted()).toEqual(sorted);
    }
  });
});

describe('clamp', () => {
  it('returns the value, or the bound that it exceeds', () => {
    expect([-1, 3, 9].map((value) => clamp(value, 0, 5))).toEqual([0, 3, 5]);
  });
});

import { describe, expect, it } from 'vitest';
import { medianInterval } from '../src/median-interval.ts';
import { createRandom } from '../src/random.ts';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

describe('medianInterval', () => {
  // The ranks are those of the tables for the sign test, e.g. Conover 1999, table A3.
  it.each([
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [12, 3, 10],
    [20, 6, 15],
    [100, 40, 61],
  ])('of %i values is between the ranks %i and %i', (n, low, high) => {
    expect(medianInterval(upTo(n).toReversed())).toEqual({ low, high });
  });

  it('does not exist below six values', () => {
    expect(medianInterval([])).toBeUndefined();
    expect(medianInterval(upTo(5))).toBeUndefined();
  });

  it('exists for more values than a fair coin can be multiplied', () => {
    const { low, high } = medianInterval(upTo(4000)) ?? { low: 0, high: 0 };
    expect(low + high).toBe(4001);
    // 1.96 standard deviations of 4,000 coins are 62.
    expect(low).toBeGreaterThan(2000 - 66);
    expect(low).toBeLessThan(2000 - 58);
  });

  it('contains the true median at least as often as it says', () => {
    const random = createRandom(11);
    const samples = 4000;
    let held = 0;
    for (let index = 0; index < samples; index++) {
      // Skewed, with the median 0.25.
      const { low, high } = medianInterval(upTo(9).map(() => random.float() ** 2)) ?? { low: 1, high: 0 };
      if (low <= 0.25 && 0.25 <= high) held++;
    }
    // 96.1 % for nine values.
    expect(held / samples).toBeGreaterThan(0.95);
    expect(held / samples).toBeLessThan(0.972);
  });
});

import { describe, expect, it } from 'vitest';
import { shareBudget } from '../../src/analyse/holm.ts';
import { createRandom } from '../../src/random.ts';
import { roundTo } from './known.ts';

/** Holm's procedure is the closed test of Bonferroni tests: the largest over all families that hold the test. */
function closeBonferroni(pValues: readonly number[]): number[] {
  return pValues.map((_, test) => {
    let largest = 0;
    for (let family = 1; family < 2 ** pValues.length; family++) {
      if (!(family & (1 << test))) continue;
      const members = pValues.filter((__, other) => family & (1 << other));
      largest = Math.max(largest, Math.min(1, members.length * Math.min(...members)));
    }
    return largest;
  });
}

describe('shareBudget', () => {
  it('adjusts p values as the closed test does', () => {
    const random = createRandom(9);
    for (let family = 0; family < 200; family++) {
      const pValues = Array.from({ length: 1 + random.below(7) }, () => random.float() ** 3);
      const adjusted = shareBudget(pValues, 0.05).map(({ adjustedP }) => adjustedP);
      for (const [test, p] of closeBonferroni(pValues).entries()) expect(adjusted[test]).toBeCloseTo(p, 12);
    }
  });

  it('divides the level so that p ≤ alpha ÷ divisor says what the adjusted p value says', () => {
    const random = createRandom(10);
    for (let family = 0; family < 2000; family++) {
      const pValues = Array.from({ length: 1 + random.below(8) }, () => random.float() ** 4);
      for (const [test, { adjustedP, divisor }] of shareBudget(pValues, 0.05).entries()) {
        expect(pValues[test]! <= 0.05 / divisor).toBe(adjustedP <= 0.05);
      }
    }
  });

  it('steps down until one stays, and the rest stay with it', () => {
    const shares = shareBudget([0.03, 0.001, 0.02, 0.012], 0.05);
    expect(shares.map(({ divisor }) => divisor)).toEqual([1, 4, 2, 3]);
    expect(shares.map(({ adjustedP }) => roundTo(adjustedP))).toEqual([0.04, 0.004, 0.04, 0.036]);
    expect(shareBudget([0.001, 0.03, 0.04], 0.05).map(({ divisor }) => divisor)).toEqual([3, 2, 2]);
  });

  it('a family of one keeps all, a family of none is none', () => {
    expect(shareBudget([0.04], 0.05)).toEqual([{ adjustedP: 0.04, divisor: 1 }]);
    expect(shareBudget([], 0.05)).toEqual([]);
  });

  it('a p value that is none is an error', () => {
    expect(() => shareBudget([0.5, 1.1], 0.05)).toThrow(RangeError);
    expect(() => shareBudget([Number.NaN], 0.05)).toThrow(RangeError);
  });
});

import { describe, expect, it } from 'vitest';
import { locateShift, mannWhitneyChances } from '../src/mann-whitney.ts';
import { upperPoint, upperTail } from '../src/normal.ts';
import { known, roundTo } from '../../bench-analysis/test/known.ts';

describe('the results agree with scipy', () => {
  it.each(known.mannWhitney)('for $first.length and $second.length values', (sample) => {
    const { first, second } = sample;
    const { centre, interval } = locateShift(first, second, 0.05);
    expect(roundTo(centre)).toBe(roundTo(sample.estimate));
    expect(interval ? [roundTo(interval.low), roundTo(interval.high)] : null).toEqual(
      sample.interval?.map((end) => roundTo(end)) ?? null,
    );
  });
});

const toSixths = (chances: Float64Array) => [...chances].map((chance) => roundTo(chance * 6));

describe('mannWhitneyChances', () => {
  it('returns the distribution over all choices', () => {
    expect(toSixths(mannWhitneyChances(2, 2))).toEqual([1, 1, 2, 1, 1]);
  });

  it('keeps the smallest chance exact for 20 and 20 values', () => {
    const chances = mannWhitneyChances(20, 20);
    expect(roundTo(1 / chances[0]!, 12)).toBe(137846528820);
    expect(roundTo(1 / chances.at(-1)!, 12)).toBe(137846528820);
    expect(chances.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
  });

  it('rejects an empty sample', () => {
    expect(() => mannWhitneyChances(0, 1)).toThrow(RangeError);
    expect(() => mannWhitneyChances(1, 0)).toThrow(RangeError);
  });
});

describe('the normal distribution', () => {
  it.each([
    [0, 0.5],
    [1.959963985, 0.025],
    [3.090232306, 0.001],
    [-1.644853627, 0.95],
    [4.753424309, 1e-6],
  ])('exceeds %d with probability %d', (z, tail) => {
    expect(upperTail(z) / tail).toBeCloseTo(1, 6);
    expect(upperPoint(tail)).toBeCloseTo(z, 5);
  });

  it('has no point for a tail of 0 or 1', () => {
    expect(() => upperPoint(0)).toThrow(RangeError);
    expect(() => upperPoint(1)).toThrow(RangeError);
  });
});

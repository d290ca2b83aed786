import { describe, expect, it } from 'vitest';
import {
  intervalOfShifts,
  mannWhitneyChances,
  mannWhitneyP,
  pairwiseShifts,
} from '../../src/analyse/mann-whitney.ts';
import { quantileOfSorted } from '../../src/analyse/quantiles.ts';
import { known, roundTo } from './known.ts';

describe('against scipy', () => {
  it.each(known.mannWhitney)('$first.length and $second.length values', (sample) => {
    const { first, second } = sample;
    const { u, p } = mannWhitneyP(first, second);
    expect(u).toBe(sample.u);
    expect(roundTo(p)).toBe(roundTo(sample.p));

    const shifts = pairwiseShifts(first, second);
    expect(roundTo(quantileOfSorted(shifts, 0.5))).toBe(roundTo(sample.estimate));
    const interval = intervalOfShifts(shifts, first.length, second.length, 0.05);
    expect(interval ? [roundTo(interval.low), roundTo(interval.high)] : null).toEqual(
      sample.interval?.map((end) => roundTo(end)) ?? null,
    );
  });

  it.each(known.mannWhitneyTied)('ties: $first and $second', (sample) => {
    const { u, p } = mannWhitneyP(sample.first, sample.second);
    expect(u).toBe(sample.u);
    expect(roundTo(p)).toBe(roundTo(sample.p));
  });
});

const toSixths = (chances: Float64Array) => [...chances].map((chance) => roundTo(chance * 6));

describe('mannWhitneyChances', () => {
  it('are those of all choices', () => {
    expect(toSixths(mannWhitneyChances(2, [1, 1, 1, 1]))).toEqual([1, 0, 1, 0, 2, 0, 1, 0, 1]);
    expect(toSixths(mannWhitneyChances(2, [2, 2]))).toEqual([1, 0, 0, 0, 4, 0, 0, 0, 1]);
    expect([...mannWhitneyChances(2, [4])]).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0]);
  });

  it('keep their smallest value exact at 20 and 20', () => {
    const chances = mannWhitneyChances(
      20,
      Array.from({ length: 40 }, () => 1),
    );
    expect(roundTo(1 / chances[0]!, 12)).toBe(137846528820);
    expect(roundTo(1 / chances.at(-1)!, 12)).toBe(137846528820);
    expect(chances.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
  });

  it('need something on both sides', () => {
    expect(() => mannWhitneyP([], [1])).toThrow(RangeError);
    expect(() => mannWhitneyP([1], [])).toThrow(RangeError);
    expect(() =>
      mannWhitneyChances(
        101,
        Array.from({ length: 110 }, () => 1),
      ),
    ).toThrow(RangeError);
  });
});

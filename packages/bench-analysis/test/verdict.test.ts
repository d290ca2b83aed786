import { describe, expect, it } from 'vitest';
import { judge, logRatio, roundsToDecide, thetaOf, toRatio } from '../src/verdict.ts';

const THETA = thetaOf(0.02);

describe('judge', () => {
  it.each([
    ['slower', true, 0.05, 0.03, 0.07],
    ['slower', false, 0.05, 0.01, 0.09],
    ['slower', false, THETA, 0.001, 0.03],
    ['undecided', false, 0.015, 0.001, 0.03],
    ['undecided', false, 0.05, 0, 0.1],
    ['undecided', false, 0.05, -0.01, 0.11],
    ['same', false, 0.005, 0.001, 0.009],
    ['same', false, 0, -0.019, 0.019],
    ['undecided', false, 0, -0.021, 0.019],
    ['undecided', false, 0, -0.019, 0.021],
    ['same', false, -0.005, -0.009, -0.001],
    ['undecided', false, -0.015, -0.03, -0.001],
    ['faster', false, -THETA, -0.03, -0.001],
    ['faster', false, -0.05, -0.09, -0.01],
    ['faster', true, -0.05, -0.07, -0.03],
  ] as const)(
    '%s (by more than the threshold: %s) at %d in [%d, %d]',
    (verdict, byMore, estimate, low, high) => {
      expect(judge(estimate, { low, high }, THETA)).toEqual({ verdict, byMoreThanThreshold: byMore });
    },
  );

  it('depends on the threshold, which must be positive', () => {
    expect(judge(0.05, { low: 0.03, high: 0.07 }, thetaOf(0.04)).byMoreThanThreshold).toBe(false);
    expect(judge(0.05, { low: 0.03, high: 0.07 }, thetaOf(0.06)).verdict).toBe('undecided');
    expect(judge(0.05, { low: 0.03, high: 0.07 }, thetaOf(0.1)).verdict).toBe('same');
    expect(() => thetaOf(0)).toThrow(RangeError);
    expect(() => thetaOf(Number.NaN)).toThrow(RangeError);
  });
});

describe('the direction', () => {
  it('is positive if the candidate is worse, whether lower or higher is better', () => {
    expect(logRatio(106, 100, 'lower')).toBeCloseTo(Math.log(1.06), 12);
    expect(logRatio(106, 100, 'higher')).toBeCloseTo(-Math.log(1.06), 12);
    expect(logRatio(100, 106, 'higher')).toBeGreaterThan(0);
  });

  it.each([0, -1, Number.NaN, Infinity, undefined])('is undefined for %s', (figure) => {
    expect(logRatio(figure, 100, 'lower')).toBeUndefined();
    expect(logRatio(100, figure, 'lower')).toBeUndefined();
  });

  it('does not affect ratios, which are of the metric itself, with ascending bounds', () => {
    const figures = {
      estimate: Math.log(1.25),
      interval: { low: 0, high: Math.log(2) },
      range: { low: -1, high: 1 },
    };
    const lower = toRatio(figures, 'lower');
    expect(lower.estimate).toBeCloseTo(1.25, 12);
    expect(lower.interval?.low).toBe(1);
    expect(lower.interval?.high).toBeCloseTo(2, 12);

    const higher = toRatio(figures, 'higher');
    expect(higher.estimate).toBeCloseTo(0.8, 12);
    expect(higher.interval?.low).toBeCloseTo(0.5, 12);
    expect(higher.interval?.high).toBeCloseTo(1, 12);
    expect(higher.range.low).toBeCloseTo(Math.exp(-1), 12);
    expect(toRatio({ ...figures, interval: undefined }, 'lower')).not.toHaveProperty('interval');
  });
});

const decide = (estimate: number, low: number, high: number, rounds = 12): number | undefined =>
  roundsToDecide({ estimate, low, high }, rounds, THETA);

describe('roundsToDecide', () => {
  it('narrows the interval until it excludes 0, or lies within the threshold', () => {
    // Of half the width, after four times the rounds.
    expect(decide(0.05, -0.05, 0.15)).toBe(36);
    expect(decide(-0.05, -0.15, 0.05)).toBe(36);
    expect(decide(0, -2 * THETA, 2 * THETA)).toBe(36);
    expect(decide(0.0009, -0.026, 0.021)).toBe(9);
  });

  it('says nothing of a difference so close to the threshold that it takes more than ten times the rounds', () => {
    expect(decide(0.019, 0.009, 0.029)).toBeUndefined();
    expect(decide(0, -0.3, 0.3)).toBeUndefined();
  });

  it('needs at least one', () => {
    expect(decide(0.05, 0, 0.1)).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { exactly } from 'bench-analysis/differences';
import { replayTest, resampleTests } from '../../src/analyse/sequential-test.ts';
import { createRandom } from 'bench-statistics/random';

const RULES = { schedule: scheduleNamed('12/18/24'), better: 'lower', threshold: 0.02 } as const;

/** A realistic pool: skewed, with an occasional outlier. */
function drawPool(rounds: number, sd: number): number[] {
  const random = createRandom(27);
  return Array.from({ length: rounds }, (_, i) => sd * random.normal() + 0.01 + (i % 25 === 0 ? 4 * sd : 0));
}

const even = (rounds: number, centre: number): number[] =>
  Array.from({ length: rounds }, (_, i) => centre + 0.001 * ((i % 5) - 2));

describe('replayTest', () => {
  it('stops at the first look with a verdict', () => {
    expect(replayTest(exactly(even(24, 0.05)), RULES)).toMatchObject({ verdict: 'slower', rounds: 12 });
    const late = [...even(12, 0.05).map((d, i) => (i % 4 ? d : -0.5 * d)), ...even(12, 0.05)];
    expect(replayTest(exactly(late), RULES)).toMatchObject({ verdict: 'slower', rounds: 18 });
  });

  it('looks where the rounds end, from six on, and nowhere else between the looks', () => {
    expect(replayTest(exactly(even(5, 0.05)), RULES)).toMatchObject({ verdict: 'undecided', rounds: 5 });
    expect(replayTest(exactly(even(11, 0.05)), RULES)).toMatchObject({ verdict: 'slower', rounds: 11 });
    expect(replayTest(exactly(even(15, 0.05)), RULES)).toMatchObject({ verdict: 'slower', rounds: 12 });
    const late = [...even(12, 0.05).map((d, i) => (i % 4 ? d : -0.5 * d)), ...even(5, 0.05)];
    expect(replayTest(exactly(late), RULES)).toMatchObject({ verdict: 'slower', rounds: 17 });
  });
});

describe('resampleTests', () => {
  it('keeps 2,000 tests from an A/A pool within the promised error rates', () => {
    for (const sd of [0.03, 0.054]) {
      const shares = resampleTests(drawPool(100, sd), { ...RULES, tests: 2000, effect: 0 }, createRandom(28));
      expect(shares.verdicts.faster + shares.verdicts.slower).toBeLessThanOrEqual(0.055);
      expect(shares.byMoreThanThreshold).toBeLessThanOrEqual(0.01);
      const all = Object.values(shares.verdicts).reduce((sum, share) => sum + share, 0);
      expect(all).toBeCloseTo(1, 9);
    }
  });

  it('finds a planted 6 % at sd(d) = 5.4 % in 95 % of the tests', () => {
    const pool = drawPool(100, 0.045);
    const shares = resampleTests(pool, { ...RULES, tests: 1000, effect: 0.06 }, createRandom(29));
    expect(shares.verdicts.slower).toBeGreaterThanOrEqual(0.95);
    expect(shares.verdicts.faster).toBe(0);
    const gain = resampleTests(pool, { ...RULES, tests: 1000, effect: -0.06 }, createRandom(29));
    expect(gain.verdicts.faster).toBeGreaterThanOrEqual(0.95);
    expect(shares.meanRounds).toBeGreaterThan(12);
    expect(shares.meanRounds).toBeLessThan(20);
  });

  it('removes a constant bias of the pool by flipping signs', () => {
    const biased = Array.from({ length: 40 }, (_, i) => 0.05 + 0.001 * i);
    const shares = resampleTests(biased, { ...RULES, tests: 1000, effect: 0 }, createRandom(30));
    expect(shares.verdicts.slower).toBeLessThan(0.05);
    expect(shares.verdicts.faster).toBeLessThan(0.05);
  });

  it('returns the same for the same seed, and rejects a pool shorter than the schedule', () => {
    const pool = drawPool(30, 0.03);
    const rules = { ...RULES, tests: 50, effect: 0 };
    expect(resampleTests(pool, rules, createRandom(1))).toEqual(resampleTests(pool, rules, createRandom(1)));
    expect(() => resampleTests(pool.slice(7), rules, createRandom(1))).toThrow(RangeError);
  });
});

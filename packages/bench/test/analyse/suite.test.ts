import { describe, expect, it } from 'vitest';
import { averageSuite, studentPoint } from '../../src/analyse/suite.ts';
import { createRandom, type Random } from '../../src/random.ts';
import { known } from './known.ts';

/** Rows whose rounds share part of their noise, as workloads measured in the same round do. */
function drawSuite(random: Random, rows: number, rounds: number, shared: number, own: number): number[][] {
  const weather = Array.from({ length: rounds }, () => shared * random.normal());
  return Array.from({ length: rows }, () => weather.map((noise) => noise + own * random.normal()));
}

describe('averageSuite', () => {
  it('is the geometric mean of the ratios', () => {
    const rows = [2, 4, 1].map((ratio) => Array.from({ length: 6 }, () => Math.log(ratio)));
    const suite = averageSuite(rows, 'lower', createRandom(21));
    expect(suite?.ratio.estimate).toBeCloseTo(2, 12);
    expect(suite?.interval?.low).toBeCloseTo(Math.log(2), 12);
    expect(averageSuite(rows, 'higher', createRandom(21))?.ratio.estimate).toBeCloseTo(0.5, 12);
  });

  it('is the same for the same seed', () => {
    const rows = drawSuite(createRandom(22), 3, 12, 0.02, 0.02);
    expect(averageSuite(rows, 'lower', createRandom(1))).toEqual(
      averageSuite(rows, 'lower', createRandom(1)),
    );
    expect(averageSuite(rows, 'lower', createRandom(1))).not.toEqual(
      averageSuite(rows, 'lower', createRandom(2)),
    );
  });

  it('leaves out rows without figures, and drops blocks', () => {
    const rows = [
      [0.1, 0.1, undefined, 0.1, 0.1, 0.1, 0.1],
      [undefined, undefined],
    ];
    expect(averageSuite(rows, 'lower', createRandom(23))).toMatchObject({ rows: 1, rounds: 7 });
    expect(averageSuite([[undefined]], 'lower', createRandom(23))).toBeUndefined();
    expect(averageSuite([], 'lower', createRandom(23))).toBeUndefined();
  });

  it('has no interval below 6 rounds', () => {
    const suite = averageSuite([[0.1, 0.2, 0.3, 0.2, 0.1]], 'lower', createRandom(24));
    expect(suite?.estimate).toBeCloseTo(0.2, 2);
    expect(suite?.interval).toBeUndefined();
  });

  it('what rounds share does not average out: drawn jointly, the interval keeps it', () => {
    const random = createRandom(25);
    const suite = averageSuite(drawSuite(random, 8, 18, 0.05, 0.001), 'lower', random);
    expect(suite!.interval!.high - suite!.interval!.low).toBeGreaterThan(0.03);
  });

  it.each([6, 12])('its interval holds the truth in about 95 of 100 suites of %i rounds', (rounds) => {
    const random = createRandom(26);
    let held = 0;
    for (let suite = 0; suite < 100; suite++) {
      const rows = drawSuite(random, 2, rounds, 0.04, 0.03);
      const { low, high } = averageSuite(rows, 'lower', random, 400)!.interval!;
      if (low <= 0 && high >= 0) held++;
    }
    expect(held / 100).toBeGreaterThan(0.9);
    expect(held / 100).toBeLessThan(0.995);
  });
});

describe('studentPoint', () => {
  it.each(known.student)('is scipy’s at $freedom degrees of freedom', ({ freedom, point }) => {
    expect(Math.abs(studentPoint(freedom) - point)).toBeLessThan(0.003);
  });
});

import { describe, expect, it } from 'vitest';
import { cutIntoStretches, noiseOf } from '../src/change-points.ts';
import { createRandom } from '../src/random.ts';

const RULES = { noise: 1, cap: 25, penalty: 30, shortest: 2 };

const random = createRandom(1);
const around = (level: number, count: number): number[] =>
  Array.from({ length: count }, () => level + random.normal());

describe('a cut into stretches', () => {
  it('finds each level and where it begins', () => {
    const values = [...around(0, 30), ...around(10, 20), ...around(5, 40)];
    const stretches = cutIntoStretches(values, RULES);
    expect(stretches.map(({ from, to }) => [from, to])).toEqual([
      [0, 30],
      [30, 50],
      [50, 90],
    ]);
    expect(stretches.map(({ centre }) => Math.round(centre))).toEqual([0, 10, 5]);
  });

  it('does not make a level of a single outlier', () => {
    expect(cutIntoStretches([...around(0, 20), 500, ...around(0, 20)], RULES)).toHaveLength(1);
  });

  it('is empty for fewer values than the shortest stretch', () => {
    expect(cutIntoStretches([1], RULES)).toEqual([]);
    expect(cutIntoStretches([], RULES)).toEqual([]);
  });
});

describe('the noise of a sequence', () => {
  const stepped = [...around(0, 200), ...around(50, 200)];
  it('is not affected by a step', () => {
    expect(noiseOf(stepped)).toBeGreaterThan(0.85);
    expect(noiseOf(stepped)).toBeLessThan(1.4);
  });

  it('is 0 for fewer than two values', () => {
    expect(noiseOf([1])).toBe(0);
    expect(noiseOf([])).toBe(0);
  });
});

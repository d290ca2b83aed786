import { describe, expect, it } from 'vitest';
import { estimateSlowdown } from '../src/neighbours.ts';

const pairs = (count: number, factor: number, noise = 0.01) =>
  Array.from({ length: count }, (_, index) => ({
    idleUs: 10,
    busyUs: 10 * factor * (1 + noise * ((index % 5) - 2)),
  }));

describe('estimateSlowdown', () => {
  it('finds how much more CPU the same work takes', () => {
    const found = estimateSlowdown(pairs(30, 1.2));
    expect(found?.ratio).toBeCloseTo(1.2, 2);
    expect(found?.low).toBeGreaterThan(1.18);
    expect(found?.high).toBeLessThan(1.22);
  });

  it('is not moved by a few disturbed turns', () => {
    const disturbed = pairs(30, 1).map((pair, index) => (index % 10 === 0 ? { ...pair, busyUs: 40 } : pair));
    expect(estimateSlowdown(disturbed)?.ratio).toBeLessThan(1.01);
  });

  it('gives nothing for too few pairs', () => {
    expect(estimateSlowdown(pairs(5, 1))).toBeUndefined();
  });
});

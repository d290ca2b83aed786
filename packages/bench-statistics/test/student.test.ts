import { describe, expect, it } from 'vitest';
import { studentMargin, studentPoint } from '../src/student.ts';
import { known } from '../../bench-analysis/test/known.ts';

describe("Student's t", () => {
  it.each(known.student)('with $freedom degrees of freedom, 5 % lie beyond $point', ({ freedom, point }) => {
    expect(studentPoint(freedom) / point).toBeCloseTo(1, 3);
  });

  it('has the exact points of 1 to 4 degrees of freedom', () => {
    for (const [freedom, point] of [
      [1, 12.7062],
      [2, 4.3027],
      [3, 3.1824],
      [4, 2.7764],
    ] as const)
      expect(studentPoint(freedom) / point).toBeCloseTo(1, 3);
    expect(studentPoint(10, 0.01)).toBeCloseTo(3.1693, 4);
  });

  it('gives a mean its interval', () => {
    expect(studentMargin([1, 2, 3])).toBeCloseTo(4.3027 / Math.sqrt(3), 4);
  });

  it('rejects 0 degrees of freedom and a level of 0', () => {
    expect(() => studentPoint(0)).toThrow(RangeError);
    expect(() => studentPoint(5, 0)).toThrow(RangeError);
  });
});

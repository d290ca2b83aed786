import { describe, expect, it } from 'vitest';
import { rankFigures } from '../../src/analyse/row-ranks.ts';
import type { Figure } from '../../src/analyse/summary.ts';

const figure = (least: number, most: number, given: Partial<Figure> = {}): Figure => ({
  median: (least + most) / 2,
  least,
  most,
  rounds: 3,
  atLeast: false,
  valid: true,
  ...given,
});

describe('rankFigures', () => {
  it('lets figures whose ranges overlap share a rank', () => {
    const figures = [figure(10, 12), figure(11, 13), figure(14, 15), figure(20, 30)];
    expect(rankFigures(figures, 'lower')).toEqual([1, 1, 3, 4]);
    expect(rankFigures(figures, 'higher')).toEqual([3, 3, 2, 1]);
  });

  it('uses the interval of the median instead of the range if there is one', () => {
    const [a, b] = [figure(10, 20), figure(15, 30)];
    const narrow = [
      { ...a, interval: { low: 12, high: 14 } },
      { ...b, interval: { low: 18, high: 22 } },
    ];
    expect(rankFigures([a, b], 'lower')).toEqual([1, 1]);
    expect(rankFigures(narrow, 'lower')).toEqual([1, 2]);
  });

  it('gives no rank to figures that are missing, invalid, bounds, or of two rounds', () => {
    const figures = [
      undefined,
      figure(1, 2, { valid: false }),
      figure(3, 4, { atLeast: true }),
      figure(5, 6, { rounds: 2 }),
      figure(7, 8),
    ];
    expect(rankFigures(figures, 'lower')).toEqual([undefined, undefined, undefined, undefined, 1]);
  });

  it('places figures below a lower bound that is higher than all of them, if higher is better', () => {
    const bound = figure(90, 95, { atLeast: true, valid: false });
    expect(rankFigures([bound, figure(70, 80), figure(80, 92)], 'higher')).toEqual([undefined, 2, 1]);
    // As a latency, the bound can only be worse than it looks.
    expect(rankFigures([figure(1, 2, { atLeast: true }), figure(5, 6)], 'lower')).toEqual([undefined, 1]);
  });
});

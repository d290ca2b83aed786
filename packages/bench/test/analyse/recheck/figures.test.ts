import { describe, expect, it } from 'vitest';
import { parseBytes, parseFigure, parseTotal } from '../../../src/analyse/recheck/figures.ts';

describe('parseFigure', () => {
  it.each([
    ['42,865.6', 42_865.6],
    ['42.865,6', 42_865.6],
    ['42\u00a0865,6', 42_865.6],
    ['42’865.6', 42_865.6],
    ['46,512', 46_512],
    ['46.512', 46_512],
    ['4,64,000', 464_000],
    ['1,234,567.89', 1_234_567.89],
    ['7', 7],
    ['0.02', 0.02],
  ])('reads %s', (text, value) => {
    expect(parseFigure(text)).toBe(value);
  });

  it.each(['', 'fast', '-1', 'NaN', '12 ms'])('refuses %j', (text) => {
    expect(parseFigure(text)).toBeUndefined();
  });
});

describe('parseTotal', () => {
  it.each([
    ['999', 999, 999],
    ['17k', 16_500, 17_499],
    ['1234k', 1_233_500, 1_234_499],
    ['2M', 1_500_000, 2_499_999],
  ])('reads %s', (printed, low, high) => {
    expect(parseTotal(printed)).toEqual({ printed, low, high });
  });
});

describe('parseBytes', () => {
  it.each([
    ['0 B', 0, 0],
    ['237 kB', 236_500, 237_500],
    ['4.69 MB', 4_685_000, 4_695_000],
    ['28 MB', 27_950_000, 28_050_000],
    ['1.2 GB', 1_195_000_000, 1_205_000_000],
    ['2 MiB', 1.995 * 2 ** 20, 2.005 * 2 ** 20],
  ])('reads %s', (text, low, high) => {
    const found = parseBytes(text);
    expect(found?.low).toBeCloseTo(low, 0);
    expect(found?.high).toBeCloseTo(high, 0);
  });

  it('refuses text that is not a size', () => {
    expect(parseBytes('17 m')).toBeUndefined();
  });
});

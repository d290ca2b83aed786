import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatChange,
  formatChangeWithin,
  formatCost,
  formatCount,
  formatSpan,
  formatUs,
} from '../src/format.ts';

describe('formatting of numbers', () => {
  it('writes a change in per cent, and a multiple from 2 on', () => {
    const factors = [0.12, 0.968, 1, 1.6, 1.994, 2, 7.97, 9.96, 1234];
    expect(factors.map(formatChange)).toEqual([
      '−88 %',
      '−3.2 %',
      '0 %',
      '+60 %',
      '+99 %',
      '2.0 ×',
      '8.0 ×',
      '10 ×',
      '1,234 ×',
    ]);
  });

  it('writes a change and both ends of its interval in one unit', () => {
    expect(formatChangeWithin(2.05, { low: 1.97, high: 2.13 })).toBe('2.0 × (2.0 × to 2.1 ×)');
    expect(formatChangeWithin(1.11, { low: 0.61, high: 2.04 })).toBe('+11 % (−39 % to +104 %)');
    expect(formatChangeWithin(2.3, { low: 0.8, high: 6 })).toBe('+130 % (−20 % to +500 %)');
  });

  it.each([
    [0, '0.0'],
    [3.14, '3.1'],
    [10, '10'],
    [999.6, '1,000'],
    [74_079.4, '74,079'],
  ])('formatCount(%d)', (value, text) => {
    expect(formatCount(value)).toBe(text);
  });

  it.each([
    [0.42, '0.4 µs'],
    [107.4, '107 µs'],
    [999.4, '999 µs'],
    [999.6, '1.00 ms'],
    [1000, '1.00 ms'],
    [18_765, '18.8 ms'],
    [132_400, '132 ms'],
    [999_700, '1.00 s'],
    [1_322_000, '1.32 s'],
    [10_000_000, '10.0 s'],
    [9_999, '10.0 ms'],
    [99_990, '100 ms'],
  ])('formatUs(%d)', (us, text) => {
    expect(formatUs(us)).toBe(text);
  });

  it.each([
    [13.44, '13.4'],
    [99.97, '100'],
    [140.6, '141'],
    [12_345, '12,345'],
  ])('formatCost(%d)', (us, text) => {
    expect(formatCost(us)).toBe(text);
  });

  it.each([
    [4096, '4.00 KiB'],
    [54.1 * 2 ** 20, '54.1 MiB'],
    [2 ** 20, '1.00 MiB'],
    [1.2 * 2 ** 30, '1.20 GiB'],
    [2 ** 30 - 1, '1.00 GiB'],
  ])('formatBytes(%d)', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0, '0 s'],
    [44.2, '45 s'],
    [90, '2 min'],
    [719, '12 min'],
    [3900, '65 min'],
    [5400, '1 h 30 min'],
    [7501, '2 h 06 min'],
  ])('formatSpan(%d)', (seconds, text) => {
    expect(formatSpan(seconds)).toBe(text);
  });

  it('never formats a longer time as a shorter one', () => {
    const values = Array.from({ length: 4000 }, (_, index) => 1.005 ** index).filter((value) => value < 1e8);
    const inUs = values.map((value) => {
      const [figure, unit] = formatUs(value).split(' ');
      return Number(figure) * { µs: 1, ms: 1e3, s: 1e6 }[unit as 'µs'];
    });
    for (const [index, value] of inUs.entries()) expect(value).toBeGreaterThanOrEqual(inUs[index - 1] ?? 0);
    for (const [index, value] of values.entries())
      expect(Math.abs(inUs[index]! / value - 1)).toBeLessThan(0.06);
  });
});

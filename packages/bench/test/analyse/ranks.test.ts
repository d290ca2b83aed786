import { describe, expect, it } from 'vitest';
import { type Ranked, shareRanks } from '../../src/analyse/ranks.ts';

const row = (estimate: number, low: number, high: number): Ranked => ({ estimate, interval: { low, high } });
const BASELINE = row(0, 0, 0);

describe('shareRanks', () => {
  it('ranks a row by 1 + the number of rows that are significantly better', () => {
    expect(shareRanks([row(0.3, 0.28, 0.32), BASELINE, row(-0.2, -0.25, -0.1)], 0.02)).toEqual([3, 2, 1]);
  });

  it('gives the same rank to rows that cannot be distinguished', () => {
    expect(shareRanks([row(0.3, 0.25, 0.35), row(0.32, 0.26, 0.36), BASELINE], 0.02)).toEqual([2, 2, 1]);
  });

  it('gives a row between two that differ the rank of the better one', () => {
    expect(shareRanks([row(0.1, 0.05, 0.14), row(0.15, 0.1, 0.2), row(0.2, 0.17, 0.25)], 0.02)).toEqual([
      1, 1, 2,
    ]);
  });

  it('treats a difference below the threshold as a tie, however significant', () => {
    expect(shareRanks([row(0.01, 0.008, 0.012), BASELINE], 0.02)).toEqual([1, 1]);
    expect(shareRanks([row(0.03, 0.028, 0.032), BASELINE], 0.02)).toEqual([2, 1]);
  });

  it('does not distinguish a row without an interval from any other', () => {
    expect(shareRanks([{ estimate: 0.9 }, {}, BASELINE, row(0.3, 0.28, 0.32)], 0.02)).toEqual([1, 1, 1, 2]);
  });

  it('returns no ranks without rows, and rejects a threshold of 0', () => {
    expect(shareRanks([], 0.02)).toEqual([]);
    expect(() => shareRanks([BASELINE], 0)).toThrow(RangeError);
  });
});

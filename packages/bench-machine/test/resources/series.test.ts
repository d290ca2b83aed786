import { describe, expect, it } from 'vitest';
import { Series } from '../../src/resources/series.ts';

function seriesOf(count: number): number[] {
  const series = new Series();
  for (let seconds = 0; seconds < count; seconds++) series.add({ seconds, bytes: 1 });
  return series.readings.map(({ seconds }) => seconds);
}

describe('a series', () => {
  it('keeps every reading of a short window', () => {
    expect(seriesOf(11)).toEqual(Array.from({ length: 11 }, (_, index) => index));
  });

  it.each([119, 120, 300, 3600, 100_000])(
    'of %i readings keeps fewer than 120, evenly spaced to its end',
    (count) => {
      const kept = seriesOf(count);
      expect(kept.length).toBeLessThan(120);
      expect(kept.length).toBeGreaterThanOrEqual(60);
      const step = (kept[1] ?? 0) - (kept[0] ?? 0);
      expect(kept).toEqual(kept.map((_, index) => index * step));
      expect(count - 1 - (kept.at(-1) ?? 0)).toBeLessThan(step);
    },
  );
});

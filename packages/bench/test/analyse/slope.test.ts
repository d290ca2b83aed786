import { describe, expect, it } from 'vitest';
import { slopeOf } from '../../src/analyse/slope.ts';
import { createRandom } from '../../src/random.ts';

const MIB = 2 ** 20;

/** One reading per second. */
function readings(count: number, bytesAt: (second: number) => number) {
  return Array.from({ length: count }, (_, seconds) => ({ seconds, bytes: bytesAt(seconds) }));
}

describe('the slope of memory', () => {
  it('is the change of memory per minute', () => {
    const slope = slopeOf(readings(60, (second) => 50 * MIB + second * 1000));
    expect(slope?.bytesPerMinute).toBeCloseTo(60_000, 3);
    expect(slope?.isDistinct).toBe(true);
    expect(slopeOf(readings(60, (second) => 50 * MIB - second * 1000))?.bytesPerMinute).toBeCloseTo(
      -60_000,
      3,
    );
  });

  it('is 0 and not significant if memory is constant', () => {
    expect(slopeOf(readings(60, () => 50 * MIB))).toEqual({
      bytesPerMinute: 0,
      marginPerMinute: 0,
      isDistinct: false,
    });
  });

  it('is unknown with fewer than 20 readings', () => {
    expect(slopeOf(readings(19, (second) => second))).toBeUndefined();
    expect(slopeOf([])).toBeUndefined();
  });

  it('is distinguishable from 0 in about 5 % of pure noise series, correlated or not', () => {
    const random = createRandom(7);
    for (const likeness of [0, 0.5]) {
      let told = 0;
      for (let series = 0; series < 1000; series++) {
        let state = 0;
        const noise = readings(100, () => (state = likeness * state + random.float() - 0.5));
        if (slopeOf(noise)?.isDistinct) told++;
      }
      expect(told).toBeGreaterThan(25);
      expect(told).toBeLessThan(100);
    }
  });
});

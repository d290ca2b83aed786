import { describe, expect, it } from 'vitest';
import type { Shape } from 'bench-model/measured';
import { createRandom, type Random } from '../src/random.ts';
import { classifySlices, widenSlices } from '../src/steadiness.ts';

const LEVEL = 3000;

type Draw = (random: Random, slices: number) => number[];

const slicesOf = (slices: number, at: (slice: number) => number): number[] =>
  Array.from({ length: slices }, (_, slice) => Math.max(0, Math.round(at(slice))));

const normal =
  (sd: number, factor: (slice: number, slices: number) => number = () => 1): Draw =>
  (random, slices) =>
    slicesOf(slices, (slice) => LEVEL * (1 + sd * random.normal()) * factor(slice, slices));

const poisson = (rate: number): Draw => {
  const least = Math.exp(-rate);
  return (random, slices) =>
    slicesOf(slices, () => {
      let count = 0;
      for (let product = random.float(); product > least; product *= random.float()) count++;
      return count;
    });
};

const t3 =
  (scale: number): Draw =>
  (random, slices) =>
    slicesOf(slices, () => {
      const chiSquare = random.normal() ** 2 + random.normal() ** 2 + random.normal() ** 2;
      return LEVEL * (1 + (scale * random.normal()) / Math.sqrt(chiSquare / 3));
    });

const autocorrelated =
  (sd: number, correlation: number): Draw =>
  (random, slices) => {
    let state = random.normal();
    return slicesOf(slices, () => {
      const count = LEVEL * (1 + sd * state);
      state = correlation * state + Math.sqrt(1 - correlation ** 2) * random.normal();
      return count;
    });
  };

const pausing =
  (share: number): Draw =>
  (random, slices) =>
    slicesOf(slices, () => LEVEL * (1 + 0.03 * random.normal()) * (random.float() < share ? 0.6 : 1));

function countShapes(draw: Draw, slices: number, windows: number): Record<Shape, number> {
  const random = createRandom(slices);
  const counts: Record<Shape, number> = { flat: 0, 'warm-up': 0, slowdown: 0, erratic: 0 };
  for (let i = 0; i < windows; i++) counts[classifySlices(draw(random, slices))!]++;
  return counts;
}

describe('stationary noise', () => {
  const independent: [string, Draw][] = [
    ['Poisson, 1 per slice', poisson(1)],
    ['Poisson, 100 per slice', poisson(100)],
    ['normal, 2 %', normal(0.02)],
    ['normal, 25 %', normal(0.25)],
    ['t3, 10 %', t3(0.1)],
  ];
  it.each(independent)('is flat in at least 99 of 100 windows: %s', (_, draw) => {
    expect(1500 - countShapes(draw, 8, 1500).flat).toBeLessThanOrEqual(15);
    expect(1500 - countShapes(draw, 20, 1500).flat).toBeLessThanOrEqual(15);
    expect(500 - countShapes(draw, 40, 500).flat).toBeLessThanOrEqual(5);
  });

  const dependent: [string, Draw][] = [
    ['autocorrelation 0.3, 5 %', autocorrelated(0.05, 0.3)],
    ['autocorrelation 0.5, 10 %', autocorrelated(0.1, 0.5)],
    ['one slice in 20 at 60 %', pausing(0.05)],
  ];
  it.each(dependent)('is flat in at least 98 of 100 windows: %s', (_, draw) => {
    expect(3000 - countShapes(draw, 20, 3000).flat).toBeLessThanOrEqual(60);
    expect(1000 - countShapes(draw, 40, 1000).flat).toBeLessThanOrEqual(20);
  });

  it('is flat if the counts hardly vary', () => {
    expect(classifySlices(slicesOf(20, (slice) => 12 + (slice % 2)))).toBe('flat');
    expect(classifySlices(slicesOf(20, () => 0))).toBe('flat');
    expect(classifySlices(slicesOf(20, () => 5000))).toBe('flat');
  });

  it('is flat in a window of 45 s, where a change counts if it lasts a tenth of the window', () => {
    expect(countShapes(normal(0.05), 180, 200).flat).toBeGreaterThanOrEqual(198);
    const stalled = (length: number) => normal(0.05, (slice) => (slice >= 90 && slice < 90 + length ? 0 : 1));
    expect(countShapes(stalled(5), 180, 100).flat).toBeGreaterThanOrEqual(98);
    expect(countShapes(stalled(20), 180, 100).erratic).toBeGreaterThanOrEqual(98);
  });
});

/** Answers at 12,000/s in slices of 50 ms; the noise is correlated over `correlationMs`. */
function recordSlices(
  random: Random,
  { windowSeconds, sd, correlationMs }: { windowSeconds: number; sd: number; correlationMs: number },
): { milliseconds: number; ok: number[] } {
  const stepMs = 10;
  const correlation = Math.exp(-stepMs / correlationMs);
  let state = random.normal();
  const ok = Array.from({ length: windowSeconds * 20 }, () => {
    let expected = 0;
    for (let at = 0; at < 50; at += stepMs) {
      expected += 12 * stepMs * Math.max(0, 1 + sd * state);
      state = correlation * state + Math.sqrt(1 - correlation ** 2) * random.normal();
    }
    return Math.max(0, Math.round(expected + Math.sqrt(expected) * random.normal()));
  });
  return { milliseconds: 50, ok };
}

describe('short windows', () => {
  it.each([
    [0.8, 8],
    [1, 10],
    [2, 10],
    [2.5, 10],
    [5, 20],
  ])('of %d s have %d slices', (windowSeconds, slices) => {
    const ok = Array.from({ length: windowSeconds * 20 }, () => 1);
    const { counts } = widenSlices({ milliseconds: 50, ok }, { windowSeconds });
    expect(counts).toHaveLength(slices);
    expect(classifySlices(counts)).toBe('flat');
  });

  it('too short for slices of 100 ms are not judged', () => {
    const { counts } = widenSlices(
      { milliseconds: 50, ok: Array.from({ length: 14 }, () => 1) },
      { windowSeconds: 0.7 },
    );
    expect(classifySlices(counts)).toBeUndefined();
  });

  it.each([20, 50, 100, 200])(
    'of 2 s are flat in at least 98 of 100 cases with noise correlated over %d ms',
    (correlationMs) => {
      const random = createRandom(correlationMs);
      let moving = 0;
      for (const sd of [0.05, 0.1]) {
        for (let i = 0; i < 1500; i++) {
          const slices = recordSlices(random, { windowSeconds: 2, sd, correlationMs });
          const { counts } = widenSlices(slices, { windowSeconds: 2 });
          if (classifySlices(counts) !== 'flat') moving++;
        }
      }
      expect(moving).toBeLessThanOrEqual(60);
    },
  );

  it.each<[string, Draw]>([
    ['Poisson, 1 per slice', poisson(1)],
    ['Poisson, 100 per slice', poisson(100)],
    ['normal, 10 %', normal(0.1)],
  ])('of ten slices are flat in at least 99 of 100 cases: %s', (_, draw) => {
    expect(1500 - countShapes(draw, 10, 1500).flat).toBeLessThanOrEqual(15);
  });

  it.each<[string, Shape, (slice: number, slices: number) => number]>([
    ['at half speed for the first 0.6 s', 'warm-up', (slice) => (slice < 3 ? 0.5 : 1)],
    ['30 % slower in the second half', 'slowdown', (slice, n) => (slice < n / 2 ? 1 : 0.7)],
  ])('of 2 s show a server that is %s', (_, shape, factor) => {
    expect(countShapes(normal(0.03, factor), 10, 400)[shape]).toBeGreaterThanOrEqual(380);
  });
});

describe('moving windows', () => {
  const moves: [string, Shape, (slice: number, slices: number) => number][] = [
    ['30 % slower in the first second', 'warm-up', (slice) => (slice < 4 ? 0.7 : 1)],
    ['at half speed for the first half second', 'warm-up', (slice) => (slice < 2 ? 0.5 : 1)],
    ['approaching its level', 'warm-up', (slice) => 1 - 0.4 * Math.exp(-slice / 4)],
    ['in two steps up', 'warm-up', (slice, n) => 0.6 + 0.2 * Math.floor((3 * slice) / n)],
    ['30 % slower in the last second', 'slowdown', (slice, n) => (slice >= n - 4 ? 0.7 : 1)],
    ['at half speed from the middle on', 'slowdown', (slice, n) => (slice < n / 2 ? 1 : 0.5)],
    ['stalled for a second in the middle', 'erratic', (slice) => (slice >= 8 && slice < 12 ? 0 : 1)],
    [
      'slow for half a second at the start and again later',
      'flat',
      (slice) => ([0, 1, 9].includes(slice) ? 0.6 : 1),
    ],
    ['stalled for one slice only', 'flat', (slice) => (slice === 9 ? 0 : 1)],
    ['every other slice empty', 'erratic', (slice) => slice % 2],
    ['up, then down', 'erratic', (slice, n) => (slice < n / 4 || slice >= (3 * n) / 4 ? 0.7 : 1)],
  ];
  it.each(moves)('%s: %s', (_, shape, factor) => {
    expect(countShapes(normal(0.03, factor), 20, 200)[shape]).toBeGreaterThanOrEqual(195);
    expect(countShapes(normal(0.03, factor), 40, 100)[shape]).toBeGreaterThanOrEqual(98);
  });

  it('10 % slower in the first second are sometimes detected, in the first half usually', () => {
    const firstSecond = countShapes(
      normal(0.03, (slice) => (slice < 4 ? 0.9 : 1)),
      20,
      400,
    );
    const half = countShapes(
      normal(0.03, (slice) => (slice < 10 ? 0.9 : 1)),
      20,
      400,
    );
    expect(firstSecond['warm-up']).toBeGreaterThan(140);
    expect(half['warm-up']).toBeGreaterThan(300);
  });

  it('with a change under 5 % are flat', () => {
    expect(classifySlices(slicesOf(20, (slice) => (slice < 10 ? 1000 : 1040)))).toBe('flat');
    expect(classifySlices(slicesOf(20, (slice) => (slice < 10 ? 1000 : 1060)))).toBe('warm-up');
  });
});

describe('classifySlices', () => {
  it('returns nothing for fewer than 8 slices', () => {
    expect(classifySlices([1, 2, 3, 4, 5, 6, 7])).toBeUndefined();
    expect(classifySlices([])).toBeUndefined();
  });

  it('joins more than 40 slices to blocks', () => {
    expect(classifySlices(slicesOf(182, (slice) => (slice < 60 ? 500 : 1000)))).toBe('warm-up');
  });

  it('rejects counts that are negative or NaN', () => {
    expect(() => classifySlices([1, 2, Number.NaN, 4, 5, 6, 7, 8])).toThrow(RangeError);
    expect(() => classifySlices([1, 2, -3, 4, 5, 6, 7, 8])).toThrow(RangeError);
  });
});

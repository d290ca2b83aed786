import { describe, expect, it } from 'vitest';
import { growthOf, memoryByAnswers, peaksAtEqualAnswers, type Level } from '../src/growth.ts';
import { createRandom } from '../src/random.ts';
import { sampleMeasured } from '../../bench-lab/testing/samples.ts';

const MIB = 2 ** 20;
const ANSWERS = 200_000;

/** Levels of 50 readings; `bytesAt` takes the answers so far. */
function levels(bytesAt: (answers: number) => number, count = 50): Level[] {
  return Array.from({ length: count }, (_, reading) => {
    const answers = Math.round((reading / (count - 1)) * ANSWERS);
    return { answers, bytes: bytesAt(answers) };
  });
}

/** A collector: memory rises by `bytes` per answer and falls back, `teeth` times over the window. */
const saw =
  (bytes: number, teeth: number) =>
  (answers: number): number =>
    bytes * (answers % (ANSWERS / teeth));

describe('the growth of memory', () => {
  const random = createRandom(18);
  const noise = (): number => 50_000 * random.normal();

  it.each([100, 1024])('is a leak of %i bytes per answer', (leak) => {
    const growth = growthOf(levels((answers) => 40 * MIB + leak * answers + noise()));
    expect(growth?.isKept).toBe(true);
    expect(growth?.estimate).toBeGreaterThan(leak * 0.95);
    expect(growth?.estimate).toBeLessThan(leak * 1.05);
    expect(growth?.interval.low).toBeLessThan(leak);
    expect(growth?.interval.high).toBeGreaterThan(leak);
  });

  it('is that of a leak although it slows the server', () => {
    const slowing = sampleMeasured();
    const ok = Array.from({ length: 100 }, (_, slice) => Math.round(2000 * 0.97 ** slice));
    let answers = 0;
    const memoryOverTime = ok.flatMap((count, slice) => {
      answers += count;
      return slice % 2 === 1 ? [{ seconds: (slice + 1) * 0.05, bytes: 30 * MIB + 1400 * answers }] : [];
    });
    const growth = growthOf(
      memoryByAnswers({
        load: { ...slowing.load, slices: { milliseconds: 50, ok } },
        server: { ...slowing.server, memoryOverTime } as never,
      }),
    );
    expect(growth?.estimate).toBeCloseTo(1400, -1);
    expect(growth?.isKept).toBe(true);
  });

  it.each([
    ['flat memory', () => 40 * MIB],
    [
      'a cache that is full after a third of the answers',
      (answers: number) => 40 * MIB + 500 * Math.min(answers, ANSWERS / 3),
    ],
    ['a collector with few teeth', (answers: number) => 40 * MIB + saw(400, 5)(answers)],
    ['a collector with many teeth', (answers: number) => 40 * MIB + saw(4000, 40)(answers)],
    ['one step of an allocator', (answers: number) => 40 * MIB + (answers > 0.8 * ANSWERS ? MIB : 0)],
    ['memory that is freed', (answers: number) => 80 * MIB - 100 * answers],
  ])('is not kept by %s', (_, bytesAt) => {
    expect(growthOf(levels((answers) => bytesAt(answers) + noise()))).toMatchObject({ isKept: false });
  });

  it('is seen through a collector', () => {
    const growth = growthOf(levels((answers) => 40 * MIB + 500 * answers + saw(2000, 20)(answers)));
    expect(growth?.isKept).toBe(true);
    expect(growth?.interval.low).toBeLessThan(500);
    expect(growth?.interval.high).toBeGreaterThan(500);
  });

  it('has an interval that holds in at least 95 % of noisy series', () => {
    let held = 0;
    let found = 0;
    for (let series = 0; series < 1000; series++) {
      let wander = 0;
      const { interval, isKept } = growthOf(
        levels((answers) => {
          wander = 0.5 * wander + 200_000 * random.normal();
          return 40 * MIB + 300 * answers + wander;
        }),
      )!;
      if (interval.low <= 300 && 300 <= interval.high) held++;
      if (isKept) found++;
    }
    expect(held).toBeGreaterThanOrEqual(950);
    expect(found).toBe(1000);
  });

  it('is unknown from few readings, and without answers', () => {
    expect(growthOf(levels(() => MIB, 12))).toBeUndefined();
    expect(growthOf(levels(() => MIB).map((level) => ({ ...level, answers: 0 })))).toBeUndefined();
    expect(growthOf([])).toBeUndefined();
  });
});

describe('two servers that grow', () => {
  it('are compared at equal numbers of answers', () => {
    const fast = levels((answers) => 40 * MIB + 100 * answers);
    const slow = levels((answers) => 40 * MIB + 100 * answers).map(({ answers, bytes }) => ({
      answers: answers / 2,
      bytes: 40 * MIB + (bytes - 40 * MIB) / 2,
    }));
    const [one, other] = peaksAtEqualAnswers(fast, slow)!;
    expect(one / other).toBeCloseTo(1, 1);
    expect(peaksAtEqualAnswers(fast, [])).toBeUndefined();
  });
});

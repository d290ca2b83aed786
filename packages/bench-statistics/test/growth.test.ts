import { describe, expect, it } from 'vitest';
import { growthOf, memoryByAnswers, peaksAtEqualAnswers, type Level } from '../src/growth.ts';
import { createRandom } from '../src/random.ts';
import { sampleMeasured } from '../../bench-lab/testing/samples.ts';

const MIB = 2 ** 20;
const ANSWERS = 200_000;

/** Levels of 50 readings; `bytesAt` takes the responses so far. */
function levels(bytesAt: (answers: number) => number, count = 50): Level[] {
  return Array.from({ length: count }, (_, reading) => {
    const answers = Math.round((reading / (count - 1)) * ANSWERS);
    return { answers, bytes: bytesAt(answers) };
  });
}

/** A collector: memory rises by `bytes` per response and falls back, `teeth` times over the window. */
const saw =
  (bytes: number, teeth: number) =>
  (answers: number): number =>
    bytes * (answers % (ANSWERS / teeth));

describe('the growth of memory', () => {
  const random = createRandom(18);
  const noise = (): number => 50_000 * random.normal();

  it.each([100, 1024])('is a leak of %i bytes per response', (leak) => {
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
      'a cache that is full after a third of the responses',
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
    const growth = growthOf(levels((answers) => 40 * MIB + 1000 * answers + saw(2000, 20)(answers)));
    expect(growth?.isKept).toBe(true);
    expect(growth?.interval.low).toBeLessThan(1000);
    expect(growth?.interval.high).toBeGreaterThan(1000);
  });

  it('is seen after one fall at the start', () => {
    const fallen = levels((answers) => 60 * MIB + 500 * answers - (answers > 20_000 ? 8 * MIB : 0));
    expect(growthOf(fallen)).toMatchObject({ isKept: true });
  });

  it('is seen although the machine stops the server now and then', () => {
    const pauses = [0, 3, 0, 0, 7, 0, 1, 0, 0, 12];
    let answers = 0;
    const uneven = Array.from({ length: 60 }, (_, reading): Level => {
      answers += 100 * (pauses[reading % pauses.length] ?? 0) + 10;
      return { answers, bytes: 60 * MIB + 6000 * answers };
    });
    expect(growthOf(uneven)).toMatchObject({ isKept: true });
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

  const rateOf = (bytesAt: () => (share: number) => number): number => {
    const said = Array.from({ length: 300 }, () => {
      const draw = bytesAt();
      return growthOf(levels((answers) => draw(answers / ANSWERS) + 10 * noise(), 98))?.isKept === true;
    });
    return said.filter(Boolean).length / said.length;
  };
  /** A collector that lets memory rise to (1 + `share`) × 60 MiB, from a random moment of its period on. */
  const toothed = (teeth: number, share: number) => () => {
    const phase = random.float();
    return (part: number) => 60 * MIB * (1 + share * ((part * teeth + phase) % 1));
  };

  it.each([1.05, 2, 5, 8, 13, 25, 60])('is rarely said of a steady collector with %f periods', (teeth) => {
    for (const share of [0.2, 1]) expect(rateOf(toothed(teeth, share))).toBeLessThanOrEqual(0.02);
  });

  it.each([0.1, 0.3, 1, 3, 6])('is rarely said of a random walk with steps of %f MiB', (step) => {
    const walk = () => {
      let at = 60;
      return () => MIB * (at = Math.max(20, at + step * random.normal()));
    };
    expect(rateOf(walk)).toBeLessThanOrEqual(0.02);
  });

  it.each([0.1, 0.25, 0.5, 0.75])(
    'is not said of what gains half or all and levels off after %f of it',
    (part) => {
      const levelling = (share: number) => () => (at: number) =>
        42 * MIB * (1 + share * (1 - Math.exp(-at / part)));
      for (const share of [0.5, 1]) expect(rateOf(levelling(share))).toBeLessThanOrEqual(0.02);
    },
  );

  it.each([
    [0.1, 0],
    [0.2, 0],
    [0.5, 1],
  ])('of a young process that gains %f and never falls is said in %f of runs', (share, rate) => {
    expect(rateOf(() => (at) => 42 * MIB * (1 + share * at))).toBeCloseTo(rate, 1);
  });

  it('is said of a leak with a collector, if the collector has enough periods', () => {
    const rates = [25, 4].map((teeth) =>
      rateOf(() => {
        const collected = toothed(teeth, 0.3)();
        return (part) => collected(part) + 60 * MIB * part;
      }),
    );
    expect(rates[0]).toBeGreaterThan(0.85);
    expect(rates[1]).toBe(0);
  });

  it('says if memory never fell: a collector with a longer period looks like a leak', () => {
    // Node takes memory in steps of 4 MiB.
    const rising = levels((answers) => 80 * MIB + 4 * MIB * Math.floor((1024 * answers) / (8 * MIB)), 98);
    expect(growthOf(rising)).toMatchObject({ isKept: true, withoutFall: ANSWERS });
    const falling = growthOf(levels((answers) => 40 * MIB + 500 * answers + saw(2000, 20)(answers)));
    expect(falling?.withoutFall).toBeUndefined();
  });

  it('is unknown from few readings, and without responses', () => {
    expect(growthOf(levels(() => MIB, 12))).toBeUndefined();
    expect(growthOf(levels(() => MIB).map((level) => ({ ...level, answers: 0 })))).toBeUndefined();
    expect(growthOf([])).toBeUndefined();
  });
});

describe('two servers that grow', () => {
  it('are compared at equal numbers of responses', () => {
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

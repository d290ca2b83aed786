import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Interval } from 'bench-model/interval';
import { type ProcessStudy, studyProcess, type WarmPair } from '../../src/warmup/process.ts';
import { studyTarget } from '../../src/warmup/study.ts';
import { createRandom } from 'bench-statistics/random';
import { drawSeries, exact, flat, nowAndThen, tenPercentFirst, twiceAsFastLater } from './courses.ts';

const recorded = Map.groupBy(
  readFileSync(new URL('../../../bench-lab/testing/fixtures/warmup/by-turns.csv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [series, ...figures] = line.split(',');
      const [seconds, answers, cpuRatio, goodputRatio] = figures.map(Number);
      return { series, pair: { seconds, answers, cpuRatio, goodputRatio } as WarmPair };
    }),
  ({ series }) => series,
);

function studyRecorded(series: string): ProcessStudy {
  return studyProcess(recorded.get(series)!.map(({ pair }) => pair))!;
}

function holds(interval: Interval | undefined, truth: number): number {
  return interval && interval.low <= truth && truth <= interval.high ? 1 : 0;
}

describe('recorded series', () => {
  it('of kestrel on one core: warm after 15 to 20 s, at 0.4 of the cost after the default warm-up', () => {
    const study = studyRecorded('k1');
    expect(study.class).toBe('warm-up');
    expect(study.warm!.seconds).toBeGreaterThan(15);
    expect(study.warm!.seconds).toBeLessThan(20);
    expect(study.lastCpu.ratio).toBeGreaterThan(0.93);
    expect(study.lastCpu.ratio).toBeLessThan(1.03);
    expect(study.lastOverEarlyCpu!.ratio).toBeGreaterThan(0.37);
    expect(study.lastOverEarlyCpu!.ratio).toBeLessThan(0.47);
    expect(study.lastOverEarlyCpu!.interval!.high).toBeLessThan(0.5);
    expect(study.lastOverEarlyGoodput!.ratio).toBeGreaterThan(2);
  });

  it('of kestrel without the delay: warm after 4 s', () => {
    const study = studyRecorded('m1');
    expect(study.class).toBe('warm-up');
    expect(study.warm!.seconds).toBeGreaterThan(3.5);
    expect(study.warm!.seconds).toBeLessThan(4.5);
  });

  it('of vanilla: warm after 2 s, as the default warm-up assumes', () => {
    const study = studyRecorded('v1');
    expect(study.class).toBe('warm-up');
    expect(study.warm!.seconds).toBeGreaterThan(1.4);
    expect(study.warm!.seconds).toBeLessThan(2.4);
    expect(study.lastCpu.ratio).toBeCloseTo(1, 1);
    expect(study.lastOverEarlyCpu!.interval!.low).toBeLessThan(1);
    expect(study.lastOverEarlyCpu!.interval!.high).toBeGreaterThan(1);
  });

  it('of fastify: warm after 1 to 3 s, with 1.5 times the CPU of vanilla', () => {
    const study = studyRecorded('f2');
    expect(study.class).toBe('warm-up');
    expect(study.warm!.seconds).toBeGreaterThan(0.8);
    expect(study.warm!.seconds).toBeLessThan(3);
    expect(study.lastCpu.ratio).toBeCloseTo(1.49, 1);
  });
});

describe('the course of a process', () => {
  it('without noise has its levels where they were planted', () => {
    const { levels, warm, studied, ...study } = studyProcess(
      exact(60, (seconds) => (seconds < 4 ? 2 : seconds < 12 ? 1.5 : 1)),
    )!;
    expect(levels.map(({ fromSeconds, toSeconds, cpuRatio }) => [fromSeconds, toSeconds, cpuRatio])).toEqual([
      [0, expect.closeTo(4, 9), expect.closeTo(2, 9)],
      [expect.closeTo(4, 9), expect.closeTo(12, 9), expect.closeTo(1.5, 9)],
      [expect.closeTo(12, 9), expect.closeTo(59.95, 9), expect.closeTo(1, 9)],
    ]);
    expect(warm).toEqual({ seconds: expect.closeTo(12, 9), answers: 120_000 });
    expect(studied).toEqual({ seconds: 59.95, answers: 600_000 });
    expect(study.class).toBe('warm-up');
    expect(study.lastOverEarlyCpu?.ratio).toBeCloseTo(0.5, 9);
    expect(study.lastOverEarlyGoodput?.ratio).toBeCloseTo(2, 9);
  });

  it('that becomes more expensive once and stays so is a slowdown that settled', () => {
    const study = studyProcess(exact(60, (seconds) => (seconds < 20 ? 1 : 1.2)))!;
    expect(study).toMatchObject({ class: 'slowdown', warm: { seconds: expect.closeTo(20, 9) } });
    expect(study.moving).toBeUndefined();
  });

  it('that is cheaper for its first second only is a slowdown, warm after it', () => {
    const study = studyProcess(exact(60, (seconds) => (seconds < 1 ? 1 : seconds < 2 ? 1.2 : 1.4)))!;
    expect(study).toMatchObject({ class: 'slowdown', warm: { seconds: expect.closeTo(2, 9) } });
  });

  it('that is cheaper for 3 s between equal levels is flat', () => {
    const study = studyProcess(exact(60, (seconds) => (seconds >= 10 && seconds < 13 ? 0.8 : 1)))!;
    expect(study).toMatchObject({ class: 'flat', warm: { seconds: 0 } });
  });

  it('that rises to the end is a slowdown that did not settle', () => {
    const study = studyProcess(exact(60, (seconds) => 1 + seconds / 60))!;
    expect(study).toMatchObject({ class: 'slowdown', moving: 'dearer' });
    expect(study.warm).toBeUndefined();
  });

  it('that falls to the end has no steady state yet', () => {
    const study = studyProcess(exact(60, (seconds) => 3 * Math.exp(-seconds / 60)))!;
    expect(study).toMatchObject({ class: 'no steady state', moving: 'cheaper' });
    expect(study.warm).toBeUndefined();
  });

  it('that changes in the last quarter of the study did not settle', () => {
    const study = studyProcess(exact(60, (seconds) => (seconds < 50 ? 2 : 1)))!;
    expect(study.class).toBe('no steady state');
    expect(study.warm).toBeUndefined();
  });

  it('with a pause of 1.5 s is flat', () => {
    const paused = studyProcess(exact(60, (seconds) => (seconds >= 30 && seconds < 31.5 ? 3 : 1)))!;
    expect(paused).toMatchObject({ class: 'flat', warm: { seconds: 0, answers: 0 } });
    expect(paused.levels).toHaveLength(1);
  });

  it('that rises over a pause of 1 s is a slowdown that did not settle', () => {
    const study = studyProcess(
      exact(60, (seconds) => (seconds >= 41 && seconds < 42 ? 0.7 : 1) * (1 + seconds / 60)),
    );
    expect(study).toMatchObject({ class: 'slowdown', moving: 'dearer' });
  });

  it('within 5 % throughout is flat', () => {
    expect(studyProcess(exact(60, (seconds) => (seconds < 20 ? 1.04 : 1)))?.class).toBe('flat');
  });

  it('that ends before the default warm-up does has no level after it', () => {
    const study = studyProcess(drawSeries(flat, createRandom(1), { seconds: 2, spanMs: 20 }))!;
    expect(study.lastOverEarlyCpu).toBeUndefined();
  });

  it('is unknown with fewer than 20 pairs', () => {
    const pairs = exact(2, () => 1);
    expect(studyProcess(pairs)).toBeDefined();
    expect(studyProcess(pairs.slice(1))).toBeUndefined();
    expect(studyProcess([])).toBeUndefined();
  });

  it('has an interval of the last level that covers it in 90 to 99 % of series', () => {
    const random = createRandom(3);
    let [last, early] = [0, 0];
    for (let i = 0; i < 200; i++) {
      const study = studyProcess(drawSeries(tenPercentFirst, random, { neighbour: i % 2 === 0 }))!;
      last += holds(study.lastCpu.interval, 1);
      early += holds(study.lastOverEarlyCpu?.interval, 1 / 1.1);
    }
    expect(last).toBeGreaterThanOrEqual(180);
    expect(last).toBeLessThanOrEqual(198);
    expect(early).toBeGreaterThanOrEqual(176);
  });
});

describe('the course of a target', () => {
  const random = createRandom(4);
  const one = studyProcess(drawSeries(twiceAsFastLater, random))!;
  const other = studyProcess(drawSeries(twiceAsFastLater, random))!;
  const odd = studyProcess(drawSeries(nowAndThen, random))!;

  it('is consistent if its processes share a class', () => {
    const study = studyTarget([one, other]);
    expect(study).toMatchObject({ class: 'warm-up', settled: 2, classes: { 'warm-up': 2, flat: 0 } });
    expect(study.warmSeconds?.median).toBeCloseTo(15, 0);
    expect(study.lastOverEarlyCpu?.ratio).toBeCloseTo(0.5, 1);
    expect(study.lastOverEarlyCpu?.interval?.low).toBeLessThan(0.5);
  });

  it('is inconsistent otherwise, with ages of the processes that settled', () => {
    const study = studyTarget([odd, one, other]);
    expect(study).toMatchObject({ class: 'inconsistent', settled: 2 });
    expect(study.warmSeconds?.median).toBeCloseTo(15, 0);
  });

  it('has no age if no process settled', () => {
    const study = studyTarget([odd]);
    expect(study).toMatchObject({ class: 'no steady state', settled: 0 });
    expect(study.warmSeconds).toBeUndefined();
  });

  it('requires at least one process', () => {
    expect(() => studyTarget([])).toThrow(RangeError);
  });
});

import { describe, expect, it } from 'vitest';
import type { WarmPair } from '../../src/warmup/process.ts';
import {
  findUsualPace,
  pairsOf as pairsIn,
  type ProcessPairs,
  selectUsual,
  studyObserved,
} from '../../src/warmup/study.ts';
import { exact } from './courses.ts';

/** A process of 600 pairs in 60 s. The reference costs `referenceUs` at an age, the server `ratio` times that. */
function observe(
  referenceUs: (seconds: number) => number,
  ratio: (seconds: number) => number = () => 2,
): WarmPair[] {
  return exact(60, ratio, referenceUs);
}

const usual = (): number => 100;
/** The machine is slow for the last part of every 10 s. */
function slowFor(share: number): (seconds: number) => boolean {
  return (seconds) => seconds % 10 >= 10 * (1 - share);
}

/** The machine is slow before the age of 20 s, and once more for 5 s. */
const isSlowAtFirst = (seconds: number): boolean => seconds < 20 || (seconds > 40 && seconds < 45);

function pairsOf(target: string, all: readonly WarmPair[][]): ProcessPairs[] {
  return all.map((series, index) => ({ target, process: index + 1, all: series }));
}

describe('the usual pace', () => {
  it('is the one at which most pairs of all processes were measured', () => {
    const slow = slowFor(0.4);
    const mixed = observe((seconds) => (slow(seconds) ? 170 : 100));
    expect(findUsualPace([mixed])).toBeCloseTo(100, 5);
    expect(findUsualPace([mixed, observe(() => 170)])).toBeCloseTo(170, 5);
    expect(findUsualPace([])).toBeUndefined();
  });

  it('selects the pairs within a third of it, by the median around each pair', () => {
    const slow = slowFor(0.3);
    const { pairs, share, isDisturbed } = selectUsual(
      observe((seconds) => (slow(seconds) ? 140 : 125)),
      100,
    );
    expect(share).toBeCloseTo(0.7, 2);
    expect(isDisturbed).toBe(false);
    expect(pairs.filter(({ seconds }) => slow(seconds)).length).toBeLessThanOrEqual(1);
    // One odd turn of the reference is noise, not another pace.
    expect(
      selectUsual(
        observe((seconds) => (seconds === 30.05 ? 500 : 100)),
        100,
      ).share,
    ).toBe(1);
  });
});

describe('the processes of a study', () => {
  it('are judged by the turns at the usual pace', () => {
    const slow = slowFor(0.3);
    const uneven = observe(
      (seconds) => (slow(seconds) ? 170 : 100),
      (seconds) => (slow(seconds) ? 1.5 : 2),
    );
    const [target] = studyObserved(pairsOf('one', [uneven]), ['one']);
    expect(target).toMatchObject({
      disturbed: 0,
      study: { class: 'flat', lastCpu: { median: expect.closeTo(2, 9) } },
    });
  });

  it('are not called warm from an age at which their turns do not count', () => {
    const dearAtFirst = observe(
      (seconds) => (isSlowAtFirst(seconds) ? 170 : 100),
      (seconds) => (seconds < 10 ? 40 : 2),
    );
    const [target] = studyObserved(pairsOf('one', [dearAtFirst]), ['one']);
    const [course] = target!.study!.processes;
    // The median over seven turns may take up to three more for those of the other pace.
    expect(course!.warm!.seconds).toBeCloseTo(20, 0);
    const { answers } = dearAtFirst.findLast(({ seconds }) => seconds < course!.warm!.seconds)!;
    expect(course!.warm!.answers).toBe(answers);
    expect(course!.levels).toMatchObject([{ fromSeconds: course!.warm!.seconds, toSeconds: 59.95 }]);
  });

  it('do not count if the machine was disturbed for more than half of them', () => {
    const slow = slowFor(0.6);
    const disturbed = observe((seconds) => (slow(seconds) ? 170 : 100));
    const calm = Array.from({ length: 4 }, () => observe(usual));
    const [target, other] = studyObserved(
      [...pairsOf('one', [...calm, disturbed]), ...pairsOf('other', [calm[0]!])],
      ['one', 'other', 'absent'],
    );
    expect(target).toMatchObject({ disturbed: 1, study: { processes: { length: 4 } } });
    expect(target!.whole.map(({ course }) => course !== undefined)).toEqual([true, true, true, true, false]);
    expect(other).toMatchObject({ disturbed: 0, study: { class: 'flat' } });
  });

  it('without pairs were not disturbed', () => {
    const [target] = studyObserved(pairsOf('one', [[]]), ['one']);
    expect(target).toMatchObject({ disturbed: 0, study: undefined, whole: [{ usualShare: 1 }] });
    const [, beside] = studyObserved(pairsOf('one', [observe(usual), []]), ['one'])[0]!.whole;
    expect(beside).toMatchObject({ usualShare: 1, course: undefined });
  });

  it('count with all their turns if all were disturbed', () => {
    const slow = slowFor(0.6);
    const disturbed = observe(
      (seconds) => (slow(seconds) ? 170 : 100),
      (seconds) => (slow(seconds) ? 1.5 : 2),
    );
    const calm = Array.from({ length: 4 }, () => observe(usual));
    const [target] = studyObserved(
      [...pairsOf('one', [disturbed]), ...pairsOf('other', calm)],
      ['one', 'other'],
    );
    expect(target).toMatchObject({ disturbed: 1, study: { class: 'no steady state' } });
    expect(target!.whole[0]!.pairs).toHaveLength(600);
  });
});

const side = (answers: number[], cpuUs: number[]) => ({ answers, cpuUs, goodputPerSecond: answers });

describe('the pairs of a stored process', () => {
  it('are those whose sides both answered and used CPU', () => {
    const pairs = pairsIn({
      course: {
        seconds: [1, 2, 3],
        answersBefore: 5,
        fresh: side([10, 0, 10], [200, 0, 200]),
        reference: side([10, 10, 10], [100, 100, 0]),
      },
    });
    expect(pairs).toEqual([{ seconds: 1, answers: 15, cpuRatio: 2, goodputRatio: 1, referenceUs: 10 }]);
  });
});

/** Planted courses whose class, age and last level are known: right in at least 9 of 10 studies. */
import { describe, expect, it } from 'vitest';
import type { WarmClass, WarmPair } from '../../src/warmup/process.ts';
import { type StudiedTarget, studyObserved, type TargetStudy } from '../../src/warmup/study.ts';
import { createRandom, type Random } from 'bench-statistics/random';
import {
  cheaperFirst,
  type Conditions,
  type Course,
  drawSeries,
  flat,
  leak,
  nowAndThen,
  tenPercentFirst,
  twiceAsFastLater,
  twiceFirst,
} from './courses.ts';

const STUDIES = 10;
const PROCESSES = 5;
/** The standard deviation between processes. */
const DEVIATION = 0.015;

interface Answer {
  class: WarmClass;
  warm?: { seconds?: number; answers?: number };
  last?: number;
}

const ANSWERS: [string, Course, Answer][] = [
  ['flat', flat, { class: 'flat', warm: { seconds: 0 }, last: 1 }],
  [
    'twice as expensive for the first 200,000 answers',
    twiceFirst,
    { class: 'warm-up', warm: { answers: 200_000 }, last: 1 },
  ],
  [
    '10 % more expensive for the first 20 s',
    tenPercentFirst,
    { class: 'warm-up', warm: { seconds: 20 }, last: 1 },
  ],
  [
    'level for 15 s, then twice as fast',
    twiceAsFastLater,
    { class: 'warm-up', warm: { seconds: 15 }, last: 0.5 },
  ],
  [
    'a third cheaper for the first 90,000 answers, as before a JIT has compiled',
    cheaperFirst,
    { class: 'slowdown', warm: { answers: 90_000 }, last: 1.35 },
  ],
  ['a leak', leak, { class: 'slowdown' }],
  ['alternately fast and slow, every 3 s', nowAndThen, { class: 'no steady state' }],
];

function drawStudy(course: Course, random: Random, conditions: Conditions): TargetStudy {
  const { study } = studyAll(
    Array.from({ length: PROCESSES }, () => {
      const level = Math.exp(DEVIATION * random.normal());
      const planted: Course = (seconds, answers) => level * course(seconds, answers);
      return drawSeries(planted, random, conditions);
    }),
  );
  return study!;
}

function studyAll(all: readonly WarmPair[][]): StudiedTarget {
  const observed = all.map((series, process) => ({ target: 'planted', process, all: series }));
  return studyObserved(observed, ['planted'])[0]!;
}

function isNear(value: number | undefined, planted: number | undefined, tolerance: number): boolean {
  if (planted === undefined) return true;
  return value !== undefined && Math.abs(value - planted) <= tolerance * planted;
}

function isRight(study: TargetStudy, answer: Answer): boolean {
  return (
    study.class === answer.class &&
    (answer.warm === undefined) === (study.warmSeconds === undefined) &&
    isNear(study.warmSeconds?.median, answer.warm?.seconds, 0.2) &&
    isNear(study.warmAnswers?.median, answer.warm?.answers, 0.2) &&
    isNear(study.lastCpu.median, answer.last, 0.03) &&
    (answer.last === undefined || isNear(study.lastGoodput.median, 1 / answer.last, 0.03))
  );
}

describe.each([
  ['on a quiet machine', {}],
  ['beside a neighbour in bursts', { neighbour: true }],
  ['on a machine whose pace changes', { weather: true }],
])('%s', (_, conditions) => {
  it.each(ANSWERS)('%s: classified correctly in at least 9 of 10 studies', (__, course, answer) => {
    const random = createRandom(11);
    const studies = Array.from({ length: STUDIES }, () => drawStudy(course, random, conditions));
    expect(studies.filter((study) => isRight(study, answer)).length).toBeGreaterThanOrEqual(9);
  });
});

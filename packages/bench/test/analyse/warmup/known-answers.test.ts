/** Planted courses whose class, age, last level and kinds are known: right in at least 19 of 20 studies. */
import { describe, expect, it } from 'vitest';
import { studyProcess } from '../../../src/analyse/warmup/process.ts';
import type { TargetStudy, WarmClass } from '../../../src/analyse/warmup/study.ts';
import { studyTarget } from '../../../src/analyse/warmup/target.ts';
import { createRandom, type Random } from '../../../src/random.ts';
import {
  type Course,
  drawSeries,
  flat,
  leak,
  nowAndThen,
  tenPercentFirst,
  twiceAsFastLater,
  twiceFirst,
} from './courses.ts';

const STUDIES = 20;
const PROCESSES = 5;
/** The standard deviation between processes of one kind. */
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
  ['a leak', leak, { class: 'slowdown' }],
  ['alternately fast and slow, every 3 s', nowAndThen, { class: 'no steady state' }],
];

function drawStudy(course: Course, random: Random, neighbour: boolean): TargetStudy {
  return studyTarget(
    Array.from({ length: PROCESSES }, () => {
      const level = Math.exp(DEVIATION * random.normal());
      const planted: Course = (seconds, answers) => level * course(seconds, answers);
      return studyProcess(drawSeries(planted, random, { neighbour }))!;
    }),
  );
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
    (answer.last === undefined || isNear(study.lastGoodput.median, 1 / answer.last, 0.03)) &&
    (study.kinds === undefined || study.kinds.kinds.length === 1)
  );
}

describe.each([
  ['on a quiet machine', false],
  ['beside a neighbour in bursts', true],
])('%s', (_, neighbour) => {
  it.each(ANSWERS)('%s: classified correctly in at least 19 of 20 studies', (__, course, answer) => {
    const random = createRandom(11);
    const studies = Array.from({ length: STUDIES }, () => drawStudy(course, random, neighbour));
    expect(studies.filter((study) => isRight(study, answer)).length).toBeGreaterThanOrEqual(19);
  });

  it('two kinds 20 % apart, at random: found in at least 19 of 20 studies', () => {
    const random = createRandom(12);
    let right = 0;
    for (let study = 0; study < STUDIES; study++) {
      const dear: number[] = [];
      const processes = Array.from({ length: 8 }, (__, at) => {
        const isDear = random.coin();
        if (isDear) dear.push(at);
        const level = (isDear ? 1.2 : 1) * Math.exp(DEVIATION * random.normal());
        return studyProcess(drawSeries(() => level, random, { neighbour, seconds: 15 }))!;
      });
      const kinds = studyTarget(processes).kinds?.kinds ?? [];
      const found =
        kinds.length === 2 ? kinds[1]!.processes : kinds[0]!.centre > 1.1 ? kinds[0]!.processes : [];
      if (found.join() === dear.join()) right++;
    }
    expect(right).toBeGreaterThanOrEqual(19);
  });
});

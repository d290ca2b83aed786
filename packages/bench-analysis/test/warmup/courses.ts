/**
 * Planted courses of a process, with noise like that of recordings: independent from pair to pair, heavy tails (robust
 * deviation 4 to 8 %, one pair in eight far out), a slow drift of about 1 %, and optionally a neighbour in bursts.
 */
import type { WarmPair } from '../../src/warmup/process.ts';
import type { Random } from 'bench-statistics/random';

/** CPU per request at an age, relative to the reference. */
export type Course = (seconds: number, answers: number) => number;

export const flat: Course = () => 1;
export const twiceFirst: Course = (_, answers) => (answers < 200_000 ? 2 : 1);
export const cheaperFirst: Course = (_, answers) => (answers < 90_000 ? 1 : 1.35);
export const tenPercentFirst: Course = (seconds) => (seconds < 20 ? 1.1 : 1);
export const twiceAsFastLater: Course = (seconds) => (seconds < 15 ? 1 : 0.5);
export const leak: Course = (seconds) => 1 + seconds / 60;
export const nowAndThen: Course = (seconds) => (Math.floor(seconds / 3) % 2 === 0 ? 1 : 2);

export interface Conditions {
  seconds?: number;
  spanMs?: number;
  /** A neighbour takes a third of the core, in bursts. */
  neighbour?: boolean;
  /** For a third of the time, the machine is slow, and not equally so for server and reference. */
  weather?: boolean;
}

/** The effect of a slow machine on the reference and, in one of two forms, on the ratio, as on a VM on 2026-11-23. */
const SLOW = { reference: 1.7, ratios: [0.77, 0.96], seconds: 1.5, usualSeconds: 3 };

const ANSWERS_PER_SECOND = 40_000;
const DRIFT = { deviation: 0.012, seconds: 4 };

/** Draws the series of one process. */
export function drawSeries(
  course: Course,
  random: Random,
  { seconds: end = 60, spanMs = 20, neighbour = false, weather = false }: Conditions = {},
): WarmPair[] {
  const span = spanMs / 1000;
  const step = 2 * span + 0.006;
  const keep = Math.exp(-step / DRIFT.seconds);
  /** True if a state of this mean length, in seconds, ends within a pair. */
  const ends = (meanSeconds: number): boolean => random.float() < 1 - Math.exp(-step / meanSeconds);
  const pairs: WarmPair[] = [];
  let drift = random.normal();
  let burst = random.float() < 1 / 3;
  let answers = 0;
  let slow: number | undefined;
  for (let seconds = span / 2; seconds < end; seconds += step) {
    drift = keep * drift + Math.sqrt(1 - keep ** 2) * random.normal();
    if (neighbour && ends(burst ? 0.7 : 1.4)) burst = !burst;
    if (weather && ends(slow ? SLOW.seconds : SLOW.usualSeconds))
      slow = slow ? undefined : random.coin() ? SLOW.ratios[0] : SLOW.ratios[1];
    const isBusy = neighbour && burst;
    const noise = (): number =>
      (isBusy ? 0.12 : 0.045) * random.normal() +
      (random.float() < (isBusy ? 0.35 : 0.12) ? 0.3 * random.normal() : 0);
    const cost = course(seconds, answers);
    answers += Math.round(((isBusy ? 2 / 3 : 1) * ANSWERS_PER_SECOND * span) / cost);
    const cpu = Math.log(cost * (slow ?? 1)) + DRIFT.deviation * drift + noise();
    pairs.push({
      seconds,
      answers,
      cpuRatio: Math.exp(cpu),
      goodputRatio: Math.exp(-cpu + noise()),
      referenceUs: weather ? (slow ? SLOW.reference : 1) * 100 * Math.exp(noise()) : 100,
    });
  }
  return pairs;
}

/** The series of a process without noise, one pair every 100 ms. The reference costs `referenceUs` at an age. */
export function exact(
  seconds: number,
  cost: (seconds: number) => number,
  referenceUs: (seconds: number) => number = () => 100,
): WarmPair[] {
  return Array.from({ length: seconds * 10 }, (_, at) => {
    const age = (at + 0.5) / 10;
    const cpuRatio = cost(age);
    return {
      seconds: age,
      answers: 1000 * (at + 1),
      cpuRatio,
      goodputRatio: 1 / cpuRatio,
      referenceUs: referenceUs(age),
    };
  });
}

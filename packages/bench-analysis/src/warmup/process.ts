/**
 * The course of one process: its levels, its class and the age at which it is warm.
 *
 * The rule, after Barrett et al., "Virtual machine warmup blows hot and cold" (OOPSLA 2017):
 * 1. The log ratios of CPU per request are cut into levels (bench-statistics/levels.ts). A run that lasts less than 2 s and less than a
 *    twentieth of the study is a pause if the levels around it are alike, if it is dearer or cheaper than both, or at the
 *    end.
 * 2. Levels are equivalent to the last within 5 % of it, or a standard error more. The process settled if equivalent
 *    levels make up the last quarter of the study.
 * 3. Settled, and cheaper from the start, or for a tenth of the study: `slowdown`. An earlier level dearer: `warm-up`.
 *    Otherwise: `flat`.
 * 4. Not settled: `no steady state`, with one exception. A cost that rises to the end of the study is a `slowdown`.
 *
 * Under noise as recorded, 60 s and turns of 20 ms, each of these classes is right in at least 99 % of processes, also
 * beside a neighbour that takes a third of the core in bursts (test/warmup/known-answers.test.ts).
 */
import type { Interval } from 'bench-model/interval';
import type { Stretch } from 'bench-statistics/change-points';
import {
  errorOf,
  type Estimate,
  estimateLevel,
  findLevels,
  subtractEstimates,
} from 'bench-statistics/levels';
import { sum } from 'bench-statistics/numbers';

/** One pair of neighbouring spans: the fresh process, and the warm reference on the same core. */
export interface WarmPair {
  /** Seconds since the first request of the process, at the middle of its span. */
  seconds: number;
  /** Answers of the process since its start, at the end of its span. */
  answers: number;
  /** CPU per request, fresh ÷ reference. */
  cpuRatio: number;
  /** Goodput, fresh ÷ reference. */
  goodputRatio: number;
  /** CPU per request of the reference, in µs. */
  referenceUs: number;
  /** The age before it, if the pairs right before it do not count: what the process cost until then was not seen. */
  since?: Age;
}

/**
 * The class of one process, after Barrett et al. (OOPSLA 2017):
 * - `flat`: within 5 % of one level throughout.
 * - `warm-up`: an earlier level is dearer than the last.
 * - `slowdown`: earlier levels are cheaper than the last, as when a JIT makes a server slower, or the cost rises to the end.
 * - `no steady state`: the last level does not last long enough.
 */
export type WarmClass = 'flat' | 'warm-up' | 'slowdown' | 'no steady state';

/** A positive ratio with its 95 % interval, which is absent if there are too few data. */
export interface RatioEstimate {
  ratio: number;
  interval?: Interval;
}

/** A stretch of a process's life at one cost. */
export interface WarmLevel {
  fromSeconds: number;
  toSeconds: number;
  /** CPU per request, fresh ÷ reference. */
  cpuRatio: number;
}

/** The age of a process. */
export interface Age {
  seconds: number;
  answers: number;
}

/** The course of one process. */
export interface ProcessStudy {
  class: WarmClass;
  /** In order of time, without gaps. Neighbours may differ by less than 5 %. */
  levels: WarmLevel[];
  /** The length of the series, and the answers in it. */
  studied: Age;
  /** The age from which the cost stays within 5 % of the last level; absent if it did not settle. */
  warm?: Age;
  /** The direction of the cost at the end of a process that did not settle; absent if it has none. */
  moving?: 'cheaper' | 'dearer';
  /** CPU per request at the last level, fresh ÷ reference. */
  lastCpu: RatioEstimate;
  /** Goodput over the same time, fresh ÷ reference. */
  lastGoodput: RatioEstimate;
  /** CPU per request, last level ÷ level right after the default warm-up; absent without pairs there. */
  lastOverEarlyCpu?: RatioEstimate;
  /** Goodput over the same times, last level ÷ level right after the default warm-up. */
  lastOverEarlyGoodput?: RatioEstimate;
}

/** Levels closer than that are equivalent, as log ratio. */
const ALIKE = Math.log(1.05);
/** The part of the study that the last level must last. */
const SETTLED_SHARE = 0.25;
/** A shorter run is a pause: garbage collection, a hiccup of the machine. */
const PAUSE_SECONDS = 2;
const PAUSE_SHARE = 0.05;
const PAUSE_PAIRS = 5;
const FEWEST_PAIRS = 20;
/** The part of the study that cheaper levels make up in a slowdown, unless the process began with one. */
const CHEAPER_SHARE = 0.1;
/** A cost that moves to the end does so over that part of the study, and its last level is shorter than the other part. */
const MOVING_SHARE = 0.5;
const STOPPED_SHARE = 0.4;
/** The part of the early window that a level must cover to be the level after the default warm-up. */
const EARLY_SHARE = 0.2;

/** The first measured window of a default trial: the warm-up before it and its length, in seconds. */
const EARLY = { fromSeconds: 2, forSeconds: 5 };

/** Studies the course of one process by its pairs, in order of time; undefined with fewer than 20. */
export function studyProcess(pairs: readonly WarmPair[]): ProcessStudy | undefined {
  if (pairs.length < FEWEST_PAIRS) return undefined;
  const cpu = pairs.map(({ cpuRatio }) => Math.log(cpuRatio));
  const goodput = pairs.map(({ goodputRatio }) => Math.log(goodputRatio));
  const levels = joinTail(pairs, dropPauses(pairs, findLevels(cpu)));
  const end = pairs.at(-1)!;
  const last = levels.at(-1)!;
  const first = earlyPairs(pairs, levels);
  const [ofCpu, ofGoodput] = [cpu, goodput].map((logs) => {
    const late = estimateLevel(logs.slice(last.from, last.to));
    const early = first && estimateLevel(logs.slice(first.from, first.to));
    return { last: ratioOf(late), overEarly: early && ratioOf(subtractEstimates(late, early)) };
  }) as [
    { last: RatioEstimate; overEarly?: RatioEstimate },
    { last: RatioEstimate; overEarly?: RatioEstimate },
  ];
  return {
    ...classify(pairs, cpu, levels),
    levels: levels.map(({ from, to, centre }) => ({
      fromSeconds: ageAt(pairs, from).seconds,
      toSeconds: to === pairs.length ? end.seconds : ageAt(pairs, to).seconds,
      cpuRatio: Math.exp(centre),
    })),
    studied: { seconds: end.seconds, answers: end.answers },
    lastCpu: ofCpu.last,
    lastGoodput: ofGoodput.last,
    ...(ofCpu.overEarly && { lastOverEarlyCpu: ofCpu.overEarly }),
    ...(ofGoodput.overEarly && { lastOverEarlyGoodput: ofGoodput.overEarly }),
  };
}

/** The pairs of the early window that belong to the level at its start; undefined if there are none. */
function earlyPairs(
  pairs: readonly WarmPair[],
  levels: readonly Stretch[],
): { from: number; to: number } | undefined {
  const { fromSeconds, forSeconds } = EARLY;
  const start = pairs.findIndex(({ seconds }) => seconds >= fromSeconds);
  const beyond = pairs.findIndex(({ seconds }) => seconds >= fromSeconds + forSeconds);
  const end = beyond < 0 ? pairs.length : beyond;
  if (start < 0 || start >= end) return undefined;
  const parts = levels
    .map(({ from, to }) => ({ from: Math.max(from, start), to: Math.min(to, end) }))
    .filter(({ from, to }) => to > from);
  // A level that ends just after the start of the window is not what the window measures.
  return parts.find(({ from, to }) => to - from >= EARLY_SHARE * (end - start)) ?? { from: start, to: end };
}

function ratioOf({ centre, interval }: Estimate): RatioEstimate {
  return {
    ratio: Math.exp(centre),
    ...(interval && { interval: { low: Math.exp(interval.low), high: Math.exp(interval.high) } }),
  };
}

/** Returns the age between two neighbouring pairs. */
export function ageBetween(one: WarmPair, next: WarmPair): Age {
  return { seconds: (one.seconds + next.seconds) / 2, answers: one.answers };
}

/** The age at the boundary before a pair. After pairs that do not count, that is where the process is seen again. */
function ageAt(pairs: readonly WarmPair[], at: number): Age {
  const [before, pair] = [pairs[at - 1], pairs[at]!];
  if (pair.since) return pair.since;
  return before ? ageBetween(before, pair) : { seconds: 0, answers: 0 };
}

function classify(
  pairs: readonly WarmPair[],
  cpu: readonly number[],
  levels: readonly Stretch[],
): Pick<ProcessStudy, 'class' | 'warm' | 'moving'> {
  const last = levels.at(-1)!;
  const steps = levels.map((level) => stepTo(cpu, level, last));
  const cheaper = sum(levels.map(({ from, to }, at) => (steps[at]! > ALIKE ? shareOf(pairs, from, to) : 0)));
  const isLong = cheaper >= CHEAPER_SHARE;
  const settling = steps.findIndex((step) => Math.abs(step) <= ALIKE);
  const isSlowdown = isLong || steps.slice(0, settling).some((step) => step > ALIKE);
  const away = steps.findLastIndex(
    (step, at) => step < -ALIKE || (step > ALIKE && (isLong || at < settling)),
  );
  const warmFrom = levels[away + 1]!.from;
  const rising = levels.length > 2 && movesToEnd(pairs, levels, 1);
  if (rising) return { class: 'slowdown', moving: 'dearer' };
  if (shareOf(pairs, warmFrom, pairs.length) < SETTLED_SHARE) {
    return { class: 'no steady state', ...(movesToEnd(pairs, levels, -1) && { moving: 'cheaper' }) };
  }
  const warm = ageAt(pairs, warmFrom);
  if (!isSlowdown) return { class: away < 0 ? 'flat' : 'warm-up', warm };
  if (risesWithin(cpu.slice(last.from, last.to))) return { class: 'slowdown', moving: 'dearer' };
  return { class: 'slowdown', warm };
}

/**
 * The step from a level to the last, as log ratio; above 0 the level is cheaper. It is moved towards 0 by its standard
 * error, so that noise alone does not take a level out of the tolerance.
 */
function stepTo(cpu: readonly number[], level: Stretch, last: Stretch): number {
  const step = last.centre - level.centre;
  return Math.sign(step) * Math.max(0, Math.abs(step) - Math.hypot(errorOf(cpu, level), errorOf(cpu, last)));
}

/** True if the second half of a level is dearer than the first by more than a quarter of the tolerance, distinctly. */
function risesWithin(logs: readonly number[]): boolean {
  const half = logs.length >> 1;
  const { centre, interval } = subtractEstimates(
    estimateLevel(logs.slice(half)),
    estimateLevel(logs.slice(0, half)),
  );
  return interval !== undefined && interval.low > 0 && centre > ALIKE / 4;
}

/**
 * True if the cost moves in one direction (1: dearer, -1: cheaper) from its extreme to the end, over half of the study
 * and in several steps. A long last level means that it has stopped.
 */
function movesToEnd(pairs: readonly WarmPair[], levels: readonly Stretch[], direction: 1 | -1): boolean {
  const costs = levels.map(({ centre }) => direction * centre);
  const start = costs.indexOf(Math.min(...costs));
  const steps = costs.slice(start);
  const last = levels.at(-1)!;
  return (
    steps.length > 2 &&
    steps.every((cost, i) => i === 0 || cost > steps[i - 1]!) &&
    steps.at(-1)! - steps[0]! > ALIKE &&
    shareOf(pairs, levels[start]!.from, pairs.length) >= MOVING_SHARE &&
    shareOf(pairs, last.from, last.to) < STOPPED_SHARE
  );
}

function shareOf(pairs: readonly WarmPair[], from: number, to: number): number {
  const end = pairs.at(-1)!.seconds;
  return ((to === pairs.length ? end : ageAt(pairs, to).seconds) - ageAt(pairs, from).seconds) / end;
}

function areAlike(one: Stretch, other: Stretch): boolean {
  return Math.abs(one.centre - other.centre) <= ALIKE;
}

/** True if a level is dearer, or cheaper, than both its neighbours. */
function isExtreme(before: Stretch, { centre }: Stretch, after: Stretch): boolean {
  return centre > before.centre === centre > after.centre;
}

/** Joins runs that are too short to be levels with their neighbours, whose centre they take. */
function dropPauses(pairs: readonly WarmPair[], all: readonly Stretch[]): Stretch[] {
  const levels = [...all];
  const end = pairs.at(-1)!.seconds;
  const pause = Math.min(PAUSE_SECONDS, end * PAUSE_SHARE);
  const isShort = ({ from, to }: Stretch): boolean =>
    to - from < PAUSE_PAIRS || shareOf(pairs, from, to) * end < pause;
  for (let at = 1; at < levels.length; at++) {
    const [before, run, after] = [levels[at - 1]!, levels[at]!, levels[at + 1]];
    if (!isShort(run)) continue;
    const same = after && areAlike(before, after) ? after : undefined;
    // A step on the way from one level to another is no pause.
    if (after && !same && !isExtreme(before, run, after)) continue;
    const centre = same ? centreOf(before, same) : before.centre;
    levels.splice(at - 1, same ? 3 : 2, { from: before.from, to: (same ?? run).to, centre });
    at = 0;
  }
  // Lazy initialisation makes short levels at the start, which count unless they are a few pairs.
  const [first, second] = levels;
  if (first && second && first.to - first.from < PAUSE_PAIRS)
    levels.splice(0, 2, { ...second, from: first.from });
  return levels;
}

/** Joins the last level with equivalent ones before it until it is long enough to be a level. */
function joinTail(pairs: readonly WarmPair[], all: readonly Stretch[]): Stretch[] {
  const levels = [...all];
  for (;;) {
    const [before, last] = levels.slice(-2);
    if (!before || !last || shareOf(pairs, last.from, last.to) >= SETTLED_SHARE || !areAlike(before, last))
      return levels;
    levels.splice(-2, 2, { from: before.from, to: last.to, centre: centreOf(before, last) });
  }
}

/** The common centre of two levels, weighted by their pairs. */
function centreOf(one: Stretch, other: Stretch): number {
  const [n, m] = [one.to - one.from, other.to - other.from];
  return (one.centre * n + other.centre * m) / (n + m);
}

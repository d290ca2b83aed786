/**
 * The course of one process: its levels, its class and the age at which it is warm.
 *
 * The rule, after Barrett et al., "Virtual machine warmup blows hot and cold" (OOPSLA 2017):
 * 1. The log ratios of CPU per request are cut into levels (levels.ts). A run that lasts less than 2 s and less than a
 *    twentieth of the study is a pause if the levels around it are alike, if it is dearer or cheaper than both, or at the
 *    end.
 * 2. Levels are equivalent to the last within 5 % of it, or a standard error more. The process settled if equivalent
 *    levels make up the last quarter of the study.
 * 3. Settled, and earlier levels were cheaper for a tenth of the study: `slowdown`. An earlier level dearer: `warm-up`.
 *    Otherwise: `flat`.
 * 4. Not settled: `no steady state`, with one exception. A cost that rises to the end of the study is a `slowdown`.
 *
 * Under noise as recorded, 60 s and turns of 20 ms, each of these classes is right in at least 99 % of processes, also
 * beside a neighbour that takes a third of the core in bursts (test/analyse/warmup/known-answers.test.ts).
 */
import type { Stretch } from 'bench-statistics/change-points';
import { sum } from 'bench-statistics/numbers';
import { errorOf, type Estimate, estimateLevel, findLevels, subtractEstimates } from './levels.ts';
import { ageBetween } from './pairs.ts';
import type { Age, ProcessSeries, ProcessStudy, RatioEstimate, WarmPair } from './study.ts';

/** Levels closer than that are equivalent, as log ratio. */
const ALIKE = Math.log(1.05);
/** The part of the study that the last level must last. */
const SETTLED_SHARE = 0.25;
/** A shorter run is a pause: garbage collection, a hiccup of the machine. */
const PAUSE_SECONDS = 2;
const PAUSE_SHARE = 0.05;
const PAUSE_PAIRS = 5;
const FEWEST_PAIRS = 20;
/** The part of the study that earlier, cheaper levels make up in a slowdown. */
const CHEAPER_SHARE = 0.1;
/** A cost that moves to the end does so over that part of the study, and its last level is shorter than the other part. */
const MOVING_SHARE = 0.5;
const STOPPED_SHARE = 0.4;
/** The part of the early window that a level must cover to be the level after the default warm-up. */
const EARLY_SHARE = 0.2;

/** The first measured window of a default trial: the warm-up before it and its length, in seconds. */
export interface EarlyWindow {
  fromSeconds: number;
  forSeconds: number;
}

const DEFAULT_WINDOW: EarlyWindow = { fromSeconds: 2, forSeconds: 5 };

/**
 * Studies the course of one process. Pairs without CPU time or goodput are ignored; undefined with fewer than 20 others.
 */
export function studyProcess(
  { pairs: all }: ProcessSeries,
  early: EarlyWindow = DEFAULT_WINDOW,
): ProcessStudy | undefined {
  const pairs = all.filter(({ cpuRatio, goodputRatio }) => isRatio(cpuRatio) && isRatio(goodputRatio));
  if (pairs.length < FEWEST_PAIRS) return undefined;
  const cpu = pairs.map(({ cpuRatio }) => Math.log(cpuRatio));
  const goodput = pairs.map(({ goodputRatio }) => Math.log(goodputRatio));
  const levels = joinTail(pairs, dropPauses(pairs, findLevels(cpu)));
  const course = classify(pairs, cpu, levels);

  const last = levels.at(-1)!;
  const first = earlyPairs(pairs, levels, early);
  const estimate = (logs: readonly number[]) => {
    const late = estimateLevel(logs.slice(last.from, last.to));
    return {
      last: ratioOf(late),
      ...(first && {
        overEarly: ratioOf(subtractEstimates(late, estimateLevel(logs.slice(first.from, first.to)))),
      }),
    };
  };
  const ofCpu = estimate(cpu);
  const ofGoodput = estimate(goodput);
  return {
    ...course,
    levels: levels.map(({ from, to, centre }) => ({
      fromSeconds: ageAt(pairs, from).seconds,
      toSeconds: to === pairs.length ? pairs.at(-1)!.seconds : ageAt(pairs, to).seconds,
      cpuRatio: Math.exp(centre),
    })),
    studied: { seconds: pairs.at(-1)!.seconds, answers: pairs.at(-1)!.answers },
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
  { fromSeconds, forSeconds }: EarlyWindow,
): { from: number; to: number } | undefined {
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

function isRatio(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

function ratioOf({ centre, interval }: Estimate): RatioEstimate {
  return {
    ratio: Math.exp(centre),
    ...(interval && { interval: { low: Math.exp(interval.low), high: Math.exp(interval.high) } }),
  };
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
  const isSlowdown = cheaper >= CHEAPER_SHARE;
  const away = steps.findLastIndex((step) => step < -ALIKE || (isSlowdown && step > ALIKE));
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

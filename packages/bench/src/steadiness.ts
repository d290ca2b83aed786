/**
 * Classifies the course of goodput inside a window by the change points in its slices, after Barrett et al., "Virtual
 * machine warmup blows hot and cold" (OOPSLA 2017), adapted to few and noisy slices.
 *
 * The rule:
 * 1. The noise of a slice is the largest of half a count and two scales from differences (lag 1: mean; lag 2:
 *    median), which a step hardly affects.
 * 2. The slices are cut into levels (median; at least 2 slices) by least capped squares (a slice counts at most
 *    5 noises: Fearnhead & Rigaill 2019) with a penalty of 24 per cut; if there is a cut, once more with the noise
 *    widened by the lag-1 autocorrelation of the residuals.
 * 3. Neighbouring levels that differ by less than 5 % of the window's median are joined.
 * 4. A run of fewer than 4 slices is a pause, not a level. The exception: no other slice lies as far out and, inside
 *    the window, the run changes the total by 5 %.
 * 5. One level is `flat`; only rises `warm-up`; only falls `slowdown`; both, or a mean deviation above half of
 *    the median and twice Poisson's, `erratic`.
 *
 * A slice is 250 ms long. A window under 2.5 s is cut into ten, so that one of 2 s is judged as well; a slice is never
 * shorter than 100 ms, because noise that lasts longer than a slice looks like a change of level.
 *
 * Stationary noise is classified as not flat in under 1 % of windows if its slices are independent (Poisson
 * from 1 a slice, normal and t₃ up to 25 %), in under 2 % with an autocorrelation of 0.5 or with one slice in
 * twenty at 60 %, and in 2.2 % with one in ten. In windows of 5 s with 3 % noise per slice, it
 * detects every first second that is 30 % slow, and 45 % of those that are 10 % slow. Ten slices of a 2 s window keep these bounds:
 * noise with a correlation time of up to 200 ms is classified as not flat in under 2 % of them, and a first 0.6 s
 * at half speed, or a second half 30 % slower, is seen in over 95 % (test/steadiness.test.ts).
 */
import type { Shape } from './results/record.ts';
import { mean } from './numbers.ts';

const SLICE_MS = { least: 100, most: 250 };
const WANTED_SLICES = 10;
const FEWEST_SLICES = 8;
const MOST_BLOCKS = 40;
const SHORTEST_LEVEL = 2;
const SHORTEST_LASTING = 4;
const PENALTY = 24;
const CAP = 5 ** 2;
const LEAST_CHANGE = 0.05;
const LEAST_LOSS = 0.05;
const ERRATIC = 0.5;

/** A stretch of slices with one level: from slice `from` up to, but not including, `to`. */
export interface Level {
  from: number;
  to: number;
  /** Median count of a slice in the stretch. */
  perSlice: number;
}

/** The shape of a window and its levels, in order; they cover every slice. */
export interface Steadiness {
  shape: Shape;
  levels: Level[];
}

/** Slices that are wide enough to judge a window; an incomplete last slice is dropped. */
export interface WideSlices {
  milliseconds: number;
  counts: number[];
}

/**
 * Joins the recorded slices of a window to the width that the rule above needs. The width is at least the mean cycle of
 * a connection, because shorter slices contain bursts.
 */
export function widenSlices(
  { milliseconds, ok }: { milliseconds: number; ok: readonly number[] },
  { windowSeconds, meanCycleUs = 0 }: { windowSeconds: number; meanCycleUs?: number | undefined },
): WideSlices {
  const { least, most } = SLICE_MS;
  const wanted = Math.min(most, Math.max(least, (windowSeconds * 1000) / WANTED_SLICES));
  const joined = Math.max(1, Math.floor(wanted / milliseconds), Math.ceil(meanCycleUs / 1000 / milliseconds));
  const whole = Math.min(ok.length, Math.floor((windowSeconds * 1000) / milliseconds));
  const counts = Array.from({ length: Math.floor(whole / joined) }, (_, at) =>
    ok.slice(at * joined, (at + 1) * joined).reduce((sum, count) => sum + count, 0),
  );
  return { milliseconds: joined * milliseconds, counts };
}

/**
 * Classifies a window by the counts in its consecutive slices of equal length, with the rule above. More than 40 slices
 * are joined into at most 40 blocks. Undefined for fewer than 8 slices.
 * Throws RangeError if a count is negative or not a number.
 */
export function classifySlices(counts: readonly number[]): Steadiness | undefined {
  if (!counts.every((count) => count >= 0)) throw new RangeError('the count of a slice must be at least 0');
  if (counts.length < FEWEST_SLICES) return undefined;

  const width = Math.ceil(counts.length / MOST_BLOCKS);
  const blocks = joinSlices(counts, width);
  const typical = median(blocks);
  const least = Math.max(1, LEAST_CHANGE * typical);

  const cut = cutIntoLevels(blocks);
  const levels = dropPauses(blocks, joinAlike(blocks, cut, least), typical, least);
  return {
    shape: isErratic(blocks, levels, typical) ? 'erratic' : nameShape(levels),
    levels: levels.map(({ from, to, perSlice }) => ({
      from: from * width,
      to: Math.min(to * width, counts.length),
      perSlice,
    })),
  };
}

function nameShape(levels: readonly Level[]): Shape {
  const rises = levels.slice(1).map((level, i) => level.perSlice > levels[i]!.perSlice);
  if (rises.length === 0) return 'flat';
  if (rises.every(Boolean)) return 'warm-up';
  return rises.some(Boolean) ? 'erratic' : 'slowdown';
}

function isErratic(blocks: readonly number[], levels: readonly Level[], typical: number): boolean {
  const deviations = residuals(blocks, levels).map(Math.abs);
  return mean(deviations) > Math.max(1, ERRATIC * typical, 2 * Math.sqrt(typical));
}

function joinSlices(counts: readonly number[], width: number): number[] {
  const blocks: number[] = [];
  for (let from = 0; from < counts.length; from += width) blocks.push(mean(counts.slice(from, from + width)));
  return blocks;
}

function cutIntoLevels(blocks: readonly number[]): Level[] {
  const noise = noiseOf(blocks);
  const levels = cutAtNoise(blocks, noise);
  if (levels.length === 1) return levels;
  const correlation = Math.min(0.9, correlateNeighbours(residuals(blocks, levels)));
  if (correlation <= 0) return levels;
  return cutAtNoise(blocks, noise * Math.sqrt((1 + correlation) / (1 - correlation)));
}

/** Optimal partitioning (Jackson et al. 2005): the cheapest cut of the first `to` blocks, for every `to`. */
function cutAtNoise(blocks: readonly number[], noise: number): Level[] {
  const cheapest = Array.from({ length: blocks.length + 1 }, () => Infinity);
  const startOfLast = Array.from({ length: blocks.length + 1 }, () => 0);
  cheapest[0] = -PENALTY;
  for (let from = 0; from + SHORTEST_LEVEL <= blocks.length; from++) {
    const before = cheapest[from]!;
    if (before === Infinity) continue;
    const sorted: number[] = [];
    for (let to = from + 1; to <= blocks.length; to++) {
      insertSorted(sorted, blocks[to - 1]!);
      if (sorted.length < SHORTEST_LEVEL) continue;
      const cost = before + PENALTY + costOf(sorted, noise);
      if (cost < cheapest[to]!) {
        cheapest[to] = cost;
        startOfLast[to] = from;
      }
    }
  }

  const levels: Level[] = [];
  for (let to = blocks.length; to > 0; to = startOfLast[to]!) {
    levels.unshift(levelOf(blocks, startOfLast[to]!, to));
  }
  return levels;
}

function costOf(sorted: readonly number[], noise: number): number {
  const centre = middle(sorted);
  let cost = 0;
  for (const block of sorted) cost += Math.min(CAP, ((block - centre) / noise) ** 2);
  return cost;
}

function joinAlike(blocks: readonly number[], cut: readonly Level[], least: number): Level[] {
  const levels = [...cut];
  while (levels.length > 1) {
    const steps = levels.slice(1).map((level, i) => Math.abs(level.perSlice - levels[i]!.perSlice));
    const smallest = Math.min(...steps);
    if (smallest >= least) break;
    const at = steps.indexOf(smallest);
    const joined = levelOf(blocks, levels[at]!.from, levels[at + 1]!.to);
    levels.splice(at, 2, joined);
  }
  return levels;
}

function dropPauses(
  blocks: readonly number[],
  all: readonly Level[],
  typical: number,
  least: number,
): Level[] {
  const levels = [...all];
  for (let at = 0; at < levels.length && levels.length > 1; at++) {
    const run = levels[at]!;
    const before = levels[at - 1];
    const after = levels[at + 1];
    const beside = before ?? after;
    if (!beside || run.to - run.from >= SHORTEST_LASTING) continue;
    if (before && after && Math.abs(before.perSlice - after.perSlice) >= least) continue;

    const loss = Math.abs(run.perSlice - beside.perSlice) * (run.to - run.from);
    const matters = !before || !after || loss >= LEAST_LOSS * typical * blocks.length;
    if (matters && isUnlikeTheRest(blocks, run, beside, LEAST_CHANGE * typical)) continue;

    const first = before ?? run;
    const last = after ?? run;
    const around = [...blocks.slice(first.from, run.from), ...blocks.slice(run.to, last.to)];
    const joined = { from: first.from, to: last.to, perSlice: median(around) };
    levels.splice(levels.indexOf(first), levels.indexOf(last) - levels.indexOf(first) + 1, joined);
    at = -1;
  }
  return levels;
}

function isUnlikeTheRest(blocks: readonly number[], run: Level, beside: Level, near: number): boolean {
  const sign = Math.sign(run.perSlice - beside.perSlice);
  const rest = [...blocks.slice(0, run.from), ...blocks.slice(run.to)];
  return rest.every((block) => sign * (run.perSlice - block) > near);
}

function noiseOf(blocks: readonly number[]): number {
  const neighbours = differencesAt(blocks, 1);
  const nextButOne = differencesAt(blocks, 2);
  const fromMean = (mean(neighbours) * Math.sqrt(Math.PI)) / 2;
  const fromMedian = (median(nextButOne) * 1.4826) / Math.SQRT2;
  return Math.max(0.5, fromMean, fromMedian);
}

function differencesAt(blocks: readonly number[], lag: number): number[] {
  return blocks.slice(lag).map((block, i) => Math.abs(block - blocks[i]!));
}

function residuals(blocks: readonly number[], levels: readonly Level[]): number[] {
  return levels.flatMap(({ from, to, perSlice }) => blocks.slice(from, to).map((block) => block - perSlice));
}

function correlateNeighbours(values: readonly number[]): number {
  let product = 0;
  let square = 0;
  for (const [i, value] of values.entries()) {
    product += value * (values[i - 1] ?? 0);
    square += value ** 2;
  }
  return square === 0 ? 0 : product / square;
}

function levelOf(blocks: readonly number[], from: number, to: number): Level {
  return { from, to, perSlice: median(blocks.slice(from, to)) };
}

function insertSorted(sorted: number[], value: number): void {
  let at = sorted.length;
  while (at > 0 && sorted[at - 1]! > value) at--;
  sorted.splice(at, 0, value);
}

function median(values: readonly number[]): number {
  return middle(values.toSorted((a, b) => a - b));
}

function middle(sorted: readonly number[]): number {
  const half = sorted.length >> 1;
  const upper = sorted[half]!;
  return sorted.length % 2 === 1 ? upper : (sorted[half - 1]! + upper) / 2;
}

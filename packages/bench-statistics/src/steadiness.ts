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
 * Under 2 % of windows of stationary noise are not flat; a first 0.6 s at half speed is seen in over 95 % (test/steadiness.test.ts).
 */
import type { Shape } from 'bench-model/measured';
import { cutCorrelated, joinAlike, noiseOf, residualsOf, type Stretch } from './change-points.ts';
import { clamp, mean, median, sum } from './numbers.ts';

const SLICE_MS = { least: 100, most: 250 };
const WANTED_SLICES = 10;
const FEWEST_SLICES = 8;
const MOST_BLOCKS = 40;
const SHORTEST_LASTING = 4;
const CUT = { shortest: 2, penalty: 24, cap: 5 ** 2, mostCorrelation: 0.9 };
const LEAST_CHANGE = 0.05;
const LEAST_LOSS = 0.05;
const ERRATIC = 0.5;

/** Slices that are wide enough to judge a window; an incomplete last slice is dropped. */
interface WideSlices {
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
  const wanted = clamp((windowSeconds * 1000) / WANTED_SLICES, least, most);
  const joined = Math.max(1, Math.floor(wanted / milliseconds), Math.ceil(meanCycleUs / 1000 / milliseconds));
  const whole = Math.min(ok.length, Math.floor((windowSeconds * 1000) / milliseconds));
  const counts = Array.from({ length: Math.floor(whole / joined) }, (_, at) =>
    sum(ok.slice(at * joined, (at + 1) * joined)),
  );
  return { milliseconds: joined * milliseconds, counts };
}

/**
 * Classifies a window by the counts in its consecutive slices of equal length, with the rule above. More than 40 slices
 * are joined into at most 40 blocks. Undefined for fewer than 8 slices.
 * Throws RangeError if a count is negative or not a number.
 */
export function classifySlices(counts: readonly number[]): Shape | undefined {
  if (!counts.every((count) => count >= 0)) throw new RangeError('the count of a slice must be at least 0');
  if (counts.length < FEWEST_SLICES) return undefined;

  const width = Math.ceil(counts.length / MOST_BLOCKS);
  const blocks = Array.from({ length: Math.ceil(counts.length / width) }, (_, at) =>
    mean(counts.slice(at * width, (at + 1) * width)),
  );
  const typical = median(blocks);
  const least = Math.max(1, LEAST_CHANGE * typical);

  const cut = cutCorrelated(blocks, { ...CUT, noise: Math.max(0.5, noiseOf(blocks)) });
  const joined = joinAlike(blocks, cut, least);
  const levels = dropPauses(blocks, joined, typical, least);
  const deviation = mean(residualsOf(blocks, levels).map(Math.abs));
  const isErratic = deviation > Math.max(1, ERRATIC * typical, 2 * Math.sqrt(typical));
  const rises = new Set(levels.slice(1).map((level, i) => level.centre > levels[i]!.centre));
  if (isErratic || rises.size > 1) return 'erratic';
  if (rises.size === 0) return 'flat';
  return rises.has(true) ? 'warm-up' : 'slowdown';
}

function dropPauses(
  blocks: readonly number[],
  all: readonly Stretch[],
  typical: number,
  least: number,
): Stretch[] {
  const levels = [...all];
  for (let at = 0; at < levels.length && levels.length > 1; at++) {
    const run = levels[at]!;
    const before = levels[at - 1];
    const after = levels[at + 1];
    const beside = before ?? after;
    if (!beside || run.to - run.from >= SHORTEST_LASTING) continue;
    if (before && after && Math.abs(before.centre - after.centre) >= least) continue;

    const loss = Math.abs(run.centre - beside.centre) * (run.to - run.from);
    const matters = !before || !after || loss >= LEAST_LOSS * typical * blocks.length;
    if (matters && isUnlikeTheRest(blocks, run, beside, LEAST_CHANGE * typical)) continue;

    const first = before ?? run;
    const last = after ?? run;
    const around = [...blocks.slice(first.from, run.from), ...blocks.slice(run.to, last.to)];
    const joined = { from: first.from, to: last.to, centre: median(around) };
    levels.splice(levels.indexOf(first), levels.indexOf(last) - levels.indexOf(first) + 1, joined);
    at = -1;
  }
  return levels;
}

function isUnlikeTheRest(blocks: readonly number[], run: Stretch, beside: Stretch, near: number): boolean {
  const sign = Math.sign(run.centre - beside.centre);
  const rest = [...blocks.slice(0, run.from), ...blocks.slice(run.to)];
  return rest.every((block) => sign * (run.centre - block) > near);
}

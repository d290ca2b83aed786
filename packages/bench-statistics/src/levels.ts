/**
 * Levels of a noisy series of log ratios, and the estimate of one of them.
 *
 * Pairs are joined to blocks by their median: the noise of a pair has heavy tails, and bursts last longer than a pair.
 * The blocks are cut into levels by change-points.ts.
 */
import {
  correlateNeighbours,
  cutCorrelated,
  joinAlike,
  residualsOf,
  robustNoiseOf,
  type Stretch,
  stretchOf,
} from './change-points.ts';
import { clamp, mean, median, robustDeviation, sum } from './numbers.ts';
import type { Interval } from 'bench-model/interval';
import { studentPoint } from './student.ts';

/** The number of pairs that makes a block, and the most blocks: the cut takes time with the cube of their number. */
const BLOCK_PAIRS = 3;
const FEWEST_BLOCKS = 40;
const MOST_BLOCKS = 150;

/** No measurement of CPU time is better than that. */
const LEAST_NOISE = 0.005;

/** The standard error of a median, in deviations ÷ √n: √(π/2). */
const ERROR_OF_MEDIAN = 1.2533;
/** A step between levels is at least that many standard errors; the levels were chosen to differ. */
const DISTINCT_STEP = 4;

const BATCHES = 6;
/** A value further out than that many robust deviations is an outlier. */
const OUTLYING = 3;
const MOST_CORRELATION = 0.6;
const CUT = { shortest: 2, penalty: 20, cap: 5 ** 2, mostCorrelation: MOST_CORRELATION, outlying: OUTLYING };

/** A log ratio with its 95 % interval, which is absent for too few values. */
export interface Estimate {
  centre: number;
  interval?: Interval;
}

/** Cuts log ratios in order of time into levels. The indexes are those of `logs`. */
export function findLevels(logs: readonly number[]): Stretch[] {
  const width = blockWidth(logs.length);
  const blocks = joinBlocks(logs, width);
  const noise = Math.max(LEAST_NOISE, robustNoiseOf(blocks));
  const levels = refine(logs, cutCorrelated(blocks, { ...CUT, noise }), width);
  const everywhere = robustDeviation(residualsOf(logs, levels));
  return joinAlike(
    logs,
    levels,
    DISTINCT_STEP,
    (one, next) =>
      Math.abs(next.centre - one.centre) /
      Math.hypot(errorOf(logs, one, everywhere), errorOf(logs, next, everywhere)),
  );
}

/**
 * The centre of log ratios in order of time, and its 95 % interval. Values beyond three robust deviations are pulled in
 * to that distance. The interval is Student's from the means of six consecutive batches, widened by the correlation of
 * neighbouring batches (Santer et al. 2000). It takes at least 6 values.
 */
export function estimateLevel(logs: readonly number[]): Estimate {
  const kept = pullIn(logs);
  const centre = mean(kept);
  if (kept.length < BATCHES) return { centre };
  const start = (batch: number): number => Math.floor((batch * kept.length) / BATCHES);
  const batches = Array.from({ length: BATCHES }, (_, at) => mean(kept.slice(start(at), start(at + 1))));
  const middle = mean(batches);
  const rest = batches.map((one) => one - middle);
  const deviation = Math.sqrt(sum(rest.map((one) => one ** 2)) / (BATCHES - 1));
  // The correlation of few values is too small by (1 + 4 r) / n (Marriott & Pope 1954).
  const correlation = (correlateNeighbours(rest) + 1 / BATCHES) / (1 - 4 / BATCHES);
  const r = clamp(correlation, 0, MOST_CORRELATION);
  const margin = studentPoint(BATCHES - 1) * (deviation / Math.sqrt(BATCHES)) * Math.sqrt((1 + r) / (1 - r));
  return { centre, interval: { low: centre - margin, high: centre + margin } };
}

function pullIn(logs: readonly number[]): number[] {
  const centre = median(logs);
  const most = OUTLYING * robustDeviation(logs);
  return logs.map((one) => clamp(one, centre - most, centre + most));
}

/** The difference of two estimates, with the interval that adds their margins in quadrature (Zou & Donner 2008). */
export function subtractEstimates(one: Estimate, other: Estimate): Estimate {
  const centre = one.centre - other.centre;
  if (!one.interval || !other.interval) return { centre };
  return {
    centre,
    interval: {
      low: centre - Math.hypot(one.centre - one.interval.low, other.interval.high - other.centre),
      high: centre + Math.hypot(one.interval.high - one.centre, other.centre - other.interval.low),
    },
  };
}

function blockWidth(pairs: number): number {
  return Math.max(
    1,
    Math.min(BLOCK_PAIRS, Math.floor(pairs / FEWEST_BLOCKS)),
    Math.ceil(pairs / MOST_BLOCKS),
  );
}

function joinBlocks(logs: readonly number[], width: number): number[] {
  const count = Math.floor(logs.length / width);
  return Array.from({ length: count }, (_, at) => median(logs.slice(at * width, (at + 1) * width)));
}

/** Moves each change from the edge of a block to the pair with the least absolute deviations from both levels. */
function refine(logs: readonly number[], cut: readonly Stretch[], width: number): Stretch[] {
  const starts = cut.map(({ from, centre }, at) => {
    const before = cut[at - 1];
    if (!before) return 0;
    const low = (from - 1) * width;
    const high = Math.min(logs.length, (from + 1) * width);
    let [best, least] = [low, 0];
    let deviation = 0;
    for (let i = low; i < high; i++) {
      deviation += Math.abs(logs[i]! - before.centre) - Math.abs(logs[i]! - centre);
      if (deviation < least) [best, least] = [i + 1, deviation];
    }
    return best;
  });
  return cut.map((_, at) => {
    const from = starts[at]!;
    const to = starts[at + 1] ?? logs.length;
    return stretchOf(logs, from, to);
  });
}

/** The standard error of the centre of a level, from its robust deviation or from `least`, if that is more. */
export function errorOf(logs: readonly number[], { from, to }: Stretch, least = 0): number {
  const deviation = Math.max(least, robustDeviation(logs.slice(from, to)));
  return (ERROR_OF_MEDIAN * deviation) / Math.sqrt(to - from);
}

/** One figure for a suite: the geometric mean of the ratios of its rows. */
import type { Random } from '../random.ts';
import type { Differences } from './paired.ts';
import { quantileOfSorted } from './quantiles.ts';
import { estimateCentre, type Interval, walshAverages } from './signed-rank.ts';
import { type Better, FEWEST_ROUNDS, toRatio, type Ratio } from './verdict.ts';
import { mean } from './mean.ts';

const RESAMPLES = 2000;
const NORMAL_975 = 1.959964;

/** A suite's mean log ratio, above 0 where the candidate is worse, and the same as a factor of the metric. */
export interface SuiteMean {
  rows: number;
  rounds: number;
  estimate: number;
  /** 95 %; absent below 6 rounds. */
  interval?: Interval;
  ratio: Ratio;
}

/**
 * The geometric mean of the rows' ratios (the mean of their Hodges-Lehmann log ratios), with a bootstrap interval
 * that draws whole rounds, all rows of a round together, because rows of one round share its weather. The percentile
 * interval (of 2,000 resamples, unless told) is widened by √(n/(n−1)) t(n−1) ÷ z, without which it is too narrow at
 * few rounds (expanded percentile: Hesterberg 2015). Rows without any figure are left out; undefined if none is left.
 */
export function averageSuite(
  rows: readonly Differences[],
  better: Better,
  random: Random,
  resamples: number = RESAMPLES,
): SuiteMean | undefined {
  const told = rows.filter((row) => row.some((difference) => difference !== undefined));
  if (told.length === 0) return undefined;
  const rounds = Math.max(...told.map((row) => row.length));
  const every = Array.from({ length: rounds }, (_, round) => round);
  const centres = told.map((row) => centreOf(row, every)!);
  const estimate = mean(centres);
  const interval =
    rounds < FEWEST_ROUNDS ? undefined : resample(told, rounds, estimate, { random, resamples });
  const range = { low: Math.min(...centres), high: Math.max(...centres) };
  return {
    rows: told.length,
    rounds,
    estimate,
    ...(interval && { interval }),
    ratio: toRatio({ estimate, interval, range }, better),
  };
}

/** The 97.5 % point of Student's t with `freedom` degrees, to 0.003 from 5 on (Cornish & Fisher 1938, three terms). */
export function studentPoint(freedom: number): number {
  const z = NORMAL_975;
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}

function resample(
  rows: readonly Differences[],
  rounds: number,
  estimate: number,
  draws: { random: Random; resamples: number },
): Interval {
  const means = new Float64Array(draws.resamples);
  for (let i = 0; i < draws.resamples; i++) {
    const drawn = Array.from({ length: rounds }, () => draws.random.below(rounds));
    means[i] = mean(rows.flatMap((row) => centreOf(row, drawn) ?? []));
  }
  means.sort();
  const widening = (Math.sqrt(rounds / (rounds - 1)) * studentPoint(rounds - 1)) / NORMAL_975;
  return {
    low: estimate + widening * (quantileOfSorted(means, 0.025) - estimate),
    high: estimate + widening * (quantileOfSorted(means, 0.975) - estimate),
  };
}

function centreOf(row: Differences, drawn: readonly number[]): number | undefined {
  const values = drawn.map((round) => row[round]).filter((difference) => difference !== undefined);
  return values.length === 0 ? undefined : estimateCentre(walshAverages(values));
}

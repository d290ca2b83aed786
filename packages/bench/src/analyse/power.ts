/** What a pool of sittings over twins shows: how often the tool was right, beside stock autocannon, and its noise. */
import { scheduleNamed } from '../catalogue/looks.ts';
import type { Random } from '../random.ts';
import type { Pooled, PooledNoise, PooledSitting } from '../results/pool.ts';
import { median, robustDeviation } from './quantiles.ts';
import { resampleSittings, type VerdictShares } from './sitting.ts';
import { estimateCentre, walshAverages } from './signed-rank.ts';
import type { Verdict } from './verdict.ts';

/** Robust deviation of the rounds' log ratios up to which a sitting has to find a difference of 6 %. */
export const QUIET = 0.054;

/** A printed difference from which on somebody names a winner: the threshold that ours are held to as well. */
const NAMED = 0.02;

const SITTINGS = 2000;

/** All sittings over one planted effect. */
export interface EffectSummary {
  effect: number;
  sittings: PooledSitting[];
  verdicts: Record<Verdict, number>;
  byMoreThanThreshold: number;
  /** Sittings whose rounds were quiet enough, and how many of those called the dearer one slower. */
  quiet: number;
  quietRight: number;
  /** Median robust deviation of the rounds' log ratios in one sitting. */
  deviation: number;
  /** Candidate ÷ baseline over all rounds: Hodges-Lehmann. */
  ratio: number;
  meanSeconds: number;
  meanRounds: number;
  /** What one run each of stock autocannon would have said; right and wrong where there is a right. */
  stock: { runs: number; baseline: number; candidate: number };
}

/** The noise of one kind of trial: the spread of A/A log ratios. */
export interface NoiseSummary {
  target: string;
  method: PooledNoise['method'];
  rounds: number;
  failed: number;
  /** Standard deviation, and the one that outliers do not move. */
  deviation: number;
  robustDeviation: number;
}

/** Sittings drawn anew from the pool's own A/A rounds. */
export interface ResampledSummary {
  rounds: number;
  deviation: number;
  aa: VerdictShares;
  planted: { effect: number } & VerdictShares;
}

export interface PowerSummary {
  effects: EffectSummary[];
  noise: NoiseSummary[];
  /** Absent below 100 A/A rounds. */
  resampled?: ResampledSummary;
}

const FEWEST_POOLED = 100;

/** The summary of a pool; sittings by effect, the largest first. */
export function summarisePool(entries: readonly Pooled[], looks: string, random: Random): PowerSummary {
  const sittings = entries.filter((entry) => entry.kind === 'sitting');
  const noise = entries.filter((entry) => entry.kind === 'noise');
  const byEffect = [...Map.groupBy(sittings, ({ effect }) => effect)].toSorted(([a], [b]) => b - a);
  const rounds = sittings.filter(({ effect }) => effect === 0).flatMap(measuredOf);
  return {
    effects: byEffect.map(([effect, same]) => summariseEffect(effect, same)),
    noise: [...Map.groupBy(noise, ({ target, method }) => `${target} ${method}`).values()].map(
      summariseNoise,
    ),
    ...(rounds.length >= FEWEST_POOLED && { resampled: resample(rounds, looks, random) }),
  };
}

function measuredOf({ differences }: PooledSitting): number[] {
  return differences.filter((difference) => difference !== null);
}

function summariseEffect(effect: number, sittings: PooledSitting[]): EffectSummary {
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  for (const { verdict } of sittings) verdicts[verdict as Verdict]++;
  const told = sittings.filter((sitting) => measuredOf(sitting).length > 0);
  const deviations = told.map((sitting) => robustDeviation(measuredOf(sitting)));
  const quiet = told.filter((_, index) => (deviations[index] as number) <= QUIET);
  const stock = sittings.flatMap((sitting) => sitting.stock ?? []);
  const meanOf = (of: (sitting: PooledSitting) => number): number =>
    sittings.reduce((sum, sitting) => sum + of(sitting), 0) / sittings.length;
  return {
    effect,
    sittings,
    verdicts,
    byMoreThanThreshold: sittings.filter(({ byMoreThanThreshold }) => byMoreThanThreshold).length,
    quiet: quiet.length,
    quietRight: quiet.filter(({ verdict }) => verdict === 'slower').length,
    deviation: deviations.length > 0 ? median(deviations) : Number.NaN,
    ratio: told.length > 0 ? Math.exp(estimateCentre(walshAverages(told.flatMap(measuredOf)))) : Number.NaN,
    meanSeconds: meanOf(({ seconds }) => seconds),
    meanRounds: meanOf(({ rounds }) => rounds),
    stock: {
      runs: stock.length,
      baseline: stock.filter(({ baseline, candidate }) => baseline / candidate >= 1 + NAMED).length,
      candidate: stock.filter(({ baseline, candidate }) => candidate / baseline >= 1 + NAMED).length,
    },
  };
}

function summariseNoise(all: PooledNoise[]): NoiseSummary {
  const { target, method } = all[0] as PooledNoise;
  const values = all.map(({ difference }) => difference).filter((difference) => difference !== null);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    target,
    method,
    rounds: values.length,
    failed: all.length - values.length,
    deviation: Math.sqrt(squares / (values.length - 1)),
    robustDeviation: values.length > 0 ? robustDeviation(values) : Number.NaN,
  };
}

function resample(rounds: number[], looks: string, random: Random): ResampledSummary {
  const rules = {
    better: 'lower',
    threshold: 0.02,
    schedule: scheduleNamed(looks),
    sittings: SITTINGS,
  } as const;
  const effect = 0.06;
  return {
    rounds: rounds.length,
    deviation: robustDeviation(rounds),
    aa: resampleSittings(rounds, { ...rules, effect: 0 }, random),
    planted: { effect, ...resampleSittings(rounds, { ...rules, effect }, random) },
  };
}

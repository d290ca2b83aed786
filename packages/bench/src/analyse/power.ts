/** Summarises a pool of sequential tests on twins: how often Bench and stock autocannon were right, and the noise. */
import { scheduleNamed } from '../catalogue/looks.ts';
import { mean, median, sum } from '../numbers.ts';
import type { Random } from '../random.ts';
import type { Pooled, PooledNoise, PooledTest } from '../results/pool/record.ts';
import { robustDeviation } from './quantiles.ts';
import { resampleTests, type VerdictShares } from './sequential-test.ts';
import { estimateCentre, walshAverages } from './signed-rank.ts';
import type { Verdict } from './verdict.ts';

/** Up to this robust deviation of its log ratios, a test has to detect a difference of 6 %. */
export const QUIET = 0.054;

/** The smallest printed difference that names a winner: the same threshold as for Bench. */
const NAMED = 0.02;

const RESAMPLED_TESTS = 2000;

/** All tests with one planted effect. */
export interface EffectSummary {
  effect: number;
  tests: PooledTest[];
  verdicts: Record<Verdict, number>;
  byMoreThanThreshold: number;
  /** The quiet tests, and how many of them found the costlier build slower. */
  quiet: number;
  quietRight: number;
  /** Median robust deviation of the log ratios in one test. */
  deviation: number;
  /** Candidate ÷ baseline over all rounds: Hodges-Lehmann. */
  ratio: number;
  meanSeconds: number;
  meanRounds: number;
  /** The winners that one run of stock autocannon per build would have named. */
  stock: { runs: number; baseline: number; candidate: number };
}

/** The noise of one kind of trial: the spread of A/A log ratios. */
export interface NoiseSummary {
  target: string;
  method: PooledNoise['method'];
  rounds: number;
  failed: number;
  /** Standard deviation, and its robust counterpart. */
  deviation: number;
  robustDeviation: number;
}

/** Sequential tests resampled from the A/A rounds of the pool. */
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

/** Summarises a pool; tests are grouped by effect, the largest first. */
export function summarisePool(entries: readonly Pooled[], looks: string, random: Random): PowerSummary {
  const tests = entries.filter((entry) => entry.kind === 'sequential-test');
  const noise = entries.filter((entry) => entry.kind === 'noise');
  const byEffect = [...Map.groupBy(tests, ({ effect }) => effect)].toSorted(([a], [b]) => b - a);
  const rounds = tests.filter(({ effect }) => effect === 0).flatMap(measuredOf);
  return {
    effects: byEffect.map(([effect, same]) => summariseEffect(effect, same)),
    noise: [...Map.groupBy(noise, ({ target, method }) => `${target} ${method}`).values()].map(
      summariseNoise,
    ),
    ...(rounds.length >= FEWEST_POOLED && { resampled: resample(rounds, looks, random) }),
  };
}

function measuredOf({ differences }: PooledTest): number[] {
  return differences.filter((difference) => difference !== null);
}

function summariseEffect(effect: number, tests: PooledTest[]): EffectSummary {
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  for (const { verdict } of tests) verdicts[verdict as Verdict]++;
  const measured = tests.filter((test) => measuredOf(test).length > 0);
  const deviations = measured.map((test) => robustDeviation(measuredOf(test)));
  const quiet = measured.filter((_, index) => (deviations[index] as number) <= QUIET);
  const stock = tests.flatMap((test) => test.stock ?? []);
  const meanOf = (of: (test: PooledTest) => number): number => mean(tests.map(of));
  return {
    effect,
    tests,
    verdicts,
    byMoreThanThreshold: tests.filter(({ byMoreThanThreshold }) => byMoreThanThreshold).length,
    quiet: quiet.length,
    quietRight: quiet.filter(({ verdict }) => verdict === 'slower').length,
    deviation: deviations.length > 0 ? median(deviations) : Number.NaN,
    ratio:
      measured.length > 0
        ? Math.exp(estimateCentre(walshAverages(measured.flatMap(measuredOf))))
        : Number.NaN,
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
  const centre = mean(values);
  const squares = sum(values.map((value) => (value - centre) ** 2));
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
    tests: RESAMPLED_TESTS,
  } as const;
  const effect = 0.06;
  return {
    rounds: rounds.length,
    deviation: robustDeviation(rounds),
    aa: resampleTests(rounds, { ...rules, effect: 0 }, random),
    planted: { effect, ...resampleTests(rounds, { ...rules, effect }, random) },
  };
}

/** Summarises a pool of sequential tests on twins: how often Bench was right. */
import type { Verdict } from 'bench-model/options';
import { mean, median, robustDeviation } from 'bench-statistics/numbers';
import type { PooledTest } from '../results/pool.ts';
import { estimateCentre } from 'bench-statistics/signed-rank';

/** Up to this robust deviation of its log ratios, a test has to detect a difference of 6 %. */
export const QUIET = 0.054;

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
}

/** Summarises a pool: its tests by effect, the largest first. */
export function summarisePool(tests: readonly PooledTest[]): EffectSummary[] {
  const byEffect = [...Map.groupBy(tests, ({ effect }) => effect)].toSorted(([a], [b]) => b - a);
  return byEffect.map(([effect, same]) => summariseEffect(effect, same));
}

function measuredOf({ differences }: Pick<PooledTest, 'differences'>): number[] {
  return differences.filter((difference) => difference !== null);
}

function summariseEffect(effect: number, tests: PooledTest[]): EffectSummary {
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  for (const { verdict } of tests) verdicts[verdict]++;
  const measured = tests.filter((test) => measuredOf(test).length > 0);
  const differences = measured.map(measuredOf);
  const quiet = measured.filter((test) => robustDeviation(measuredOf(test)) <= QUIET);
  return {
    effect,
    tests,
    verdicts,
    byMoreThanThreshold: tests.filter(({ byMoreThanThreshold }) => byMoreThanThreshold).length,
    quiet: quiet.length,
    quietRight: quiet.filter(({ verdict }) => verdict === 'slower').length,
    deviation: measured.length > 0 ? median(differences.map(robustDeviation)) : Number.NaN,
    ratio: measured.length > 0 ? Math.exp(estimateCentre(differences.flat())) : Number.NaN,
    meanSeconds: mean(tests.map(({ seconds }) => seconds)),
    meanRounds: mean(tests.map(({ rounds }) => rounds)),
  };
}

/** Summarises a pool of sequential tests on twins: how often Bench was right. */
import type { Verdict } from 'bench-model/options';
import { mean, median, robustDeviation } from 'bench-statistics/numbers';
import type { Effect, PooledTest } from '../results/pool.ts';
import { estimateCentre } from 'bench-statistics/signed-rank';

/** All tests with one planted effect. */
export interface EffectSummary extends Effect {
  tests: PooledTest[];
  verdicts: Record<Verdict, number>;
  /** Median robust deviation of the log ratios in one test. */
  deviation: number;
  /** Candidate ÷ baseline over all rounds: Hodges-Lehmann. */
  ratio: number;
  meanSeconds: number;
  meanRounds: number;
}

/** Summarises a pool: its tests by effect, the largest first, and those after the response last. */
export function summarisePool(tests: readonly PooledTest[]): EffectSummary[] {
  const alike = Map.groupBy(tests, ({ effect, deferred = false }) => `${effect} ${deferred}`);
  return [...alike.values()]
    .map(summariseTests)
    .toSorted((a, b) => Number(a.deferred) - Number(b.deferred) || b.effect - a.effect);
}

function measuredOf({ differences }: Pick<PooledTest, 'differences'>): number[] {
  return differences.filter((difference) => difference !== null);
}

function summariseTests(tests: PooledTest[]): EffectSummary {
  const [{ effect, deferred = false }] = tests as [PooledTest];
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  for (const { verdict } of tests) verdicts[verdict]++;
  const measured = tests.filter((test) => measuredOf(test).length > 0);
  const differences = measured.map(measuredOf);
  return {
    effect,
    deferred,
    tests,
    verdicts,
    deviation: measured.length > 0 ? median(differences.map(robustDeviation)) : Number.NaN,
    ratio: measured.length > 0 ? Math.exp(estimateCentre(differences.flat())) : Number.NaN,
    meanSeconds: mean(tests.map(({ seconds }) => seconds)),
    meanRounds: mean(tests.map(({ rounds }) => rounds)),
  };
}

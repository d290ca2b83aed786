/** Summarises a pool of sequential tests on twins: how often Bench was right. */
import type { Verdict } from 'bench-model/options';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { mean, median, robustDeviation } from 'bench-statistics/numbers';
import type { Random } from 'bench-statistics/random';
import type { Pooled, PooledMatrix, PooledRow, PooledTest } from 'bench-model/pool';
import { resampleTests, type VerdictShares } from './sequential-test.ts';
import { estimateCentre } from 'bench-statistics/signed-rank';

/** Up to this robust deviation of its log ratios, a test has to detect a difference of 6 %. */
export const QUIET = 0.054;

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
}

/** All rows of matrices with one planted effect. */
interface RowSummary {
  effect: number;
  rows: number;
  verdicts: Record<Verdict, number>;
  byMoreThanThreshold: number;
  /** Median robust deviation of the log ratios in one row. */
  deviation: number;
  /** Candidate ÷ baseline over all rounds: Hodges-Lehmann. */
  ratio: number;
  meanRounds: number;
}

/** All matrices of a pool. */
export interface MatrixSummary {
  matrices: number;
  /** The builds of one matrix, its threshold and its longest time. */
  builds: number;
  threshold: number;
  budgetSeconds: number;
  effects: RowSummary[];
  /** Matrices with at least one wrong row: a difference where none was planted, or one in the wrong direction. */
  wrong: number;
  /** Matrices without an undecided row. */
  decided: number;
  meanSeconds: number;
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
  /** Absent without matrices. */
  matrix?: MatrixSummary;
  /** Absent below 100 A/A rounds. */
  resampled?: ResampledSummary;
}

const FEWEST_POOLED = 100;

/** Summarises a pool; tests are grouped by effect, the largest first. */
export function summarisePool(entries: readonly Pooled[], looks: string, random: Random): PowerSummary {
  const tests = entries.filter((entry) => entry.kind === 'sequential-test');
  const matrices = entries.filter((entry) => entry.kind === 'matrix');
  const byEffect = [...Map.groupBy(tests, ({ effect }) => effect)].toSorted(([a], [b]) => b - a);
  const rounds = tests.filter(({ effect }) => effect === 0).flatMap(measuredOf);
  return {
    effects: byEffect.map(([effect, same]) => summariseEffect(effect, same)),
    ...(matrices.length > 0 && { matrix: summariseMatrices(matrices) }),
    ...(rounds.length >= FEWEST_POOLED && { resampled: resample(rounds, looks, random) }),
  };
}

function measuredOf({ differences }: Pick<PooledTest, 'differences'>): number[] {
  return differences.filter((difference) => difference !== null);
}

/** The parts that tests and rows of matrices share. */
type Judged = Pick<PooledTest, 'verdict' | 'byMoreThanThreshold' | 'differences' | 'rounds'>;

/** Summarises comparisons with the same planted effect. */
function summariseJudged(
  all: readonly Judged[],
): Pick<RowSummary, 'verdicts' | 'byMoreThanThreshold' | 'deviation' | 'ratio' | 'meanRounds'> {
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  for (const { verdict } of all) verdicts[verdict]++;
  const measured = all.map(measuredOf).filter((differences) => differences.length > 0);
  return {
    verdicts,
    byMoreThanThreshold: all.filter(({ byMoreThanThreshold }) => byMoreThanThreshold).length,
    deviation: measured.length > 0 ? median(measured.map(robustDeviation)) : Number.NaN,
    ratio: measured.length > 0 ? Math.exp(estimateCentre(measured.flat())) : Number.NaN,
    meanRounds: mean(all.map(({ rounds }) => rounds)),
  };
}

function summariseEffect(effect: number, tests: PooledTest[]): EffectSummary {
  const measured = tests.filter((test) => measuredOf(test).length > 0);
  const quiet = measured.filter((test) => robustDeviation(measuredOf(test)) <= QUIET);
  return {
    effect,
    tests,
    ...summariseJudged(tests),
    quiet: quiet.length,
    quietRight: quiet.filter(({ verdict }) => verdict === 'slower').length,
    meanSeconds: mean(tests.map(({ seconds }) => seconds)),
  };
}

function isWrong({ effect, verdict }: PooledRow): boolean {
  return verdict === 'faster' || (verdict === 'slower' && effect === 0);
}

function summariseMatrices(matrices: PooledMatrix[]): MatrixSummary {
  const byEffect = [
    ...Map.groupBy(
      matrices.flatMap(({ rows }) => rows),
      ({ effect }) => effect,
    ),
  ].toSorted(([a], [b]) => b - a);
  const [{ rows: first, threshold, budgetSeconds }] = matrices as [PooledMatrix];
  return {
    matrices: matrices.length,
    builds: first.length + 1,
    threshold,
    budgetSeconds,
    effects: byEffect.map(([effect, rows]) => ({ effect, rows: rows.length, ...summariseJudged(rows) })),
    wrong: matrices.filter(({ rows }) => rows.some(isWrong)).length,
    decided: matrices.filter(({ rows }) => rows.every(({ verdict }) => verdict !== 'undecided')).length,
    meanSeconds: mean(matrices.map(({ seconds }) => seconds)),
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

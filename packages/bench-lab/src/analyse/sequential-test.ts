/** Replays a sequential test look by look, and resamples many of them from a pool of real rounds. */
import type { Verdict } from 'bench-model/options';
import type { Differences } from 'bench-statistics/two-way';
import type { Random } from 'bench-statistics/random';
import type { Comparison } from 'bench-analysis/comparison';
import { exactly } from 'bench-analysis/differences';
import { compareRounds, type PairedRules } from 'bench-analysis/paired';

/** The shares of sequential tests that ended in each verdict. */
export interface VerdictShares {
  tests: number;
  verdicts: Record<Verdict, number>;
  /** The share of tests that found `faster` or `slower` "by more than" the threshold. */
  byMoreThanThreshold: number;
  /** Mean number of rounds until a test stopped. */
  meanRounds: number;
}

/** The rules of resampled tests. */
interface PoolRules extends PairedRules {
  tests: number;
  /** The effect planted into every round, as a share: 0.06 makes the candidate 6 % worse; 0 is A/A. */
  effect: number;
}

/** Returns the comparison at which a sequential test stops: the first look with a verdict, otherwise the last one reached. */
export function replayTest(differences: Differences, rules: PairedRules): Comparison {
  for (const { rounds } of rules.schedule) {
    if (rounds >= differences.length) break;
    const comparison = compareRounds(differences.slice(0, rounds), rules);
    if (comparison.verdict !== 'undecided') return comparison;
  }
  return compareRounds(differences, rules);
}

/**
 * Resamples sequential tests from a pool of A/A log ratios. Each test draws the rounds of its schedule without
 * replacement, because a round drawn twice would tie with itself. It flips each sign by a fair coin, like the order of a
 * round, adds ln(1 + effect) and stops as `replayTest` does. Throws RangeError if the pool holds too few rounds.
 */
export function resampleTests(pool: readonly number[], rules: PoolRules, random: Random): VerdictShares {
  const rounds = rules.schedule.at(-1)?.rounds ?? 0;
  if (rounds === 0 || pool.length < rounds) {
    throw new RangeError(`a test takes ${rounds} rounds, the pool holds ${pool.length}`);
  }
  const planted = Math.log(1 + rules.effect);
  return countVerdicts(rules, () =>
    exactly(
      random
        .shuffle(pool)
        .slice(0, rounds)
        .map((difference) => planted + (random.coin() ? difference : -difference)),
    ),
  );
}

/** Counts the verdicts of `tests` tests; each call of `draw` gives the differences of one. */
export function countVerdicts(
  rules: PairedRules & { tests: number },
  draw: () => Differences,
): VerdictShares {
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  let byMoreThanThreshold = 0;
  let rounds = 0;
  for (let test = 0; test < rules.tests; test++) {
    const comparison = replayTest(draw(), rules);
    verdicts[comparison.verdict] += 1 / rules.tests;
    if (comparison.byMoreThanThreshold) byMoreThanThreshold += 1 / rules.tests;
    rounds += comparison.rounds;
  }
  return { tests: rules.tests, verdicts, byMoreThanThreshold, meanRounds: rounds / rules.tests };
}

/** A sitting replayed look by look, and many of them drawn from a pool of real rounds. */
import type { Random } from '../random.ts';
import type { Comparison } from './comparison.ts';
import { compareRounds, type Differences, type PairedRules } from './paired.ts';
import type { Verdict } from './verdict.ts';

/** How often sittings ended in which verdict; shares of 1. */
export interface VerdictShares {
  sittings: number;
  verdicts: Record<Verdict, number>;
  /** Of all sittings, those that said `faster` or `slower` "by more than" the threshold. */
  byMoreThanThreshold: number;
  /** Mean number of rounds until a sitting stopped. */
  meanRounds: number;
}

/** What a resampled sitting is made of. */
export interface PoolRules extends PairedRules {
  sittings: number;
  /** Planted into every round as a share: 0.06 makes the candidate 6 % worse; 0 for A/A. */
  effect: number;
}

/** The comparison at which a sitting stops: that of the first look with a verdict, else of the last one reached. */
export function replaySitting(differences: Differences, rules: PairedRules): Comparison {
  for (const { rounds } of rules.schedule) {
    if (rounds >= differences.length) break;
    const comparison = compareRounds(differences.slice(0, rounds), rules);
    if (comparison.verdict !== 'undecided') return comparison;
  }
  return compareRounds(differences, rules);
}

/**
 * Sittings drawn from a pool of A/A log ratios: each takes as many rounds as its schedule has, without replacement
 * (a round drawn twice would tie with itself), flips each sign by a fair coin, as the coin of a round's order does,
 * adds ln(1 + effect) and stops as `replaySitting` does. Throws RangeError if the pool holds too few rounds.
 */
export function resampleSittings(pool: readonly number[], rules: PoolRules, random: Random): VerdictShares {
  const rounds = rules.schedule.at(-1)?.rounds ?? 0;
  if (rounds === 0 || pool.length < rounds) {
    throw new RangeError(`a sitting takes ${rounds} rounds, the pool holds ${pool.length}`);
  }
  const planted = Math.log(1 + rules.effect);
  return countVerdicts(rules, () =>
    random
      .shuffle(pool)
      .slice(0, rounds)
      .map((difference) => planted + (random.coin() ? difference : -difference)),
  );
}

/** How `sittings` sittings end whose differences `draw` gives, one sitting a call. */
export function countVerdicts(
  rules: PairedRules & { sittings: number },
  draw: () => Differences,
): VerdictShares {
  const verdicts: Record<Verdict, number> = { faster: 0, slower: 0, same: 0, undecided: 0 };
  let byMoreThanThreshold = 0;
  let rounds = 0;
  for (let sitting = 0; sitting < rules.sittings; sitting++) {
    const comparison = replaySitting(draw(), rules);
    verdicts[comparison.verdict] += 1 / rules.sittings;
    if (comparison.byMoreThanThreshold) byMoreThanThreshold += 1 / rules.sittings;
    rounds += comparison.rounds + comparison.dropped;
  }
  return { sittings: rules.sittings, verdicts, byMoreThanThreshold, meanRounds: rounds / rules.sittings };
}

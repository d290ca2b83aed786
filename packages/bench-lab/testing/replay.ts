/** Replays a sequential test look by look. */
import type { Verdict } from 'bench-model/options';
import type { Differences } from 'bench-statistics/two-way';
import type { Comparison } from 'bench-analysis/comparison';
import { alone, compareGroups, type PairedRules } from 'bench-analysis/paired';

/** Makes the comparisons of one table, in order. */
export function compareTable(rows: readonly Differences[], rules: PairedRules): Comparison[] {
  const groups = rows.map((row) => [alone(row)]);
  return compareGroups(groups, rules).map(({ comparison }) => comparison);
}

/** Makes one comparison with the whole error budget. */
export function compareRounds(differences: Differences, rules: PairedRules): Comparison {
  return compareTable([differences], rules)[0]!;
}

/** The shares of sequential tests that ended in each verdict. */
export interface VerdictShares {
  tests: number;
  verdicts: Record<Verdict, number>;
  /** The share of tests that found `faster` or `slower` "by more than" the threshold. */
  byMoreThanThreshold: number;
  /** Mean number of rounds until a test stopped. */
  meanRounds: number;
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

/**
 * Simulates comparisons in which some rounds are in doubt, and prints how often they are wrong:
 *
 *     pnpm exec node packages/bench-lab/experiments/doubts/verdicts.ts
 *
 * The doubtful rounds of a candidate are its slowest ones, because a disturbance causes both.
 */
import { exactly } from 'bench-analysis/differences';
import type { Difference, Differences } from 'bench-statistics/two-way';
import { compareRounds } from 'bench-analysis/paired';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { createRandom, type Random } from 'bench-statistics/random';

const TESTS = 4000;
const NOISE = 0.03;
const DOUBT = Math.log(1.2);
const RULES = { schedule: scheduleNamed('12/18/24'), better: 'lower', threshold: 0.02 } as const;

type Rule = (values: readonly number[], doubtful: ReadonlySet<number>) => Differences;

const RULE: Record<string, Rule> = {
  'left out': (values, doubtful) => exactly(values.filter((_, round) => !doubtful.has(round))),
  unbounded: (values, doubtful) =>
    exactly(values.map((value, round) => (doubtful.has(round) ? undefined : value))),
  'bounded by 20 %': (values, doubtful) =>
    values.map((value, round): Difference => {
      const doubt = doubtful.has(round) ? DOUBT : 0;
      return { value, low: value - doubt, high: value + doubt };
    }),
};

/** Returns the share of tests of this many rounds that find the candidate `faster` or `slower`. */
function findsDifference(rule: Rule, rounds: number, doubts: number, effect: number, random: Random): number {
  let found = 0;
  for (let test = 0; test < TESTS; test++) {
    const values = Array.from({ length: rounds }, () => Math.log(1 + effect) + NOISE * random.normal());
    const slowest = values
      .map((value, round) => ({ value, round }))
      .toSorted((a, b) => b.value - a.value)
      .slice(0, doubts);
    const doubtful = new Set(slowest.map(({ round }) => round));
    // What is left out shortens the run: the schedule is that of the rounds that were planned.
    const differences = rule(values, doubtful);
    const schedule = RULES.schedule.filter((look) => look.rounds === rounds);
    const { interval } = compareRounds(differences, {
      ...RULES,
      schedule: differences.length === rounds ? schedule : [{ ...schedule[0]!, rounds: differences.length }],
    });
    if (interval !== undefined && (interval.low > 0 || interval.high < 0)) found++;
  }
  return found / TESTS;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
console.log('| rounds | in doubt | rule | equal servers differ | +20 % is found | +86 % is found |');
console.log('|---:|---:|---|---:|---:|---:|');
for (const [rounds, doubts] of [
  [12, 2],
  [24, 1],
  [24, 2],
  [24, 4],
] as const) {
  for (const [name, rule] of Object.entries(RULE)) {
    const random = createRandom(rounds + doubts);
    const shares = [0, 0.2, 0.86].map((effect) => findsDifference(rule, rounds, doubts, effect, random));
    console.log(`| ${rounds} | ${doubts} | ${name} | ${shares.map(percent).join(' | ')} |`);
  }
}

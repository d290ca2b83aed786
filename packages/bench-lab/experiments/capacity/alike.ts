/**
 * How often do two equal servers differ? Simulates comparisons of a server with itself, as a sequential test of capacities
 * makes them: how many of its looks find a difference.
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/alike.ts [pairs] [rounds] [name]
 */
import { differencesWithin } from 'bench-analysis/compare';
import { valuesOf } from 'bench-analysis/differences';
import { compareRounds } from 'bench-analysis/paired';
import type { FoundCapacity } from 'bench-model/measured';
import { thresholdFor } from 'bench-model/options';
import { readPromises, type Promised } from 'bench-model/promise';
import type { Trial } from 'bench-model/record';
import { mean, sum } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { chooseLooks, mostRounds, scheduleNamed } from 'bench-targets/catalogue/looks';
import { exponential, fixed, type Queue } from '../../testing/queues.ts';
import { simulateTrial } from './simulated.ts';

const [pairs = 150, most = 8] = process.argv.slice(2, 4).map(Number);
const [wanted = ''] = process.argv.slice(4);
const SECONDS = 12;
/** The standard deviation of the logarithm of a service time between trials. */
const CHANGING = 0.02;
const SCHEDULE = scheduleNamed(chooseLooks(2, { searches: true }));
const LOOKS = SCHEDULE.map(({ rounds }) => rounds).filter((rounds) => rounds <= most);
const [FIRST = 0] = LOOKS;

const SERVERS: [name: string, queue: Queue, promise: string][] = [
  ['M/D/1', fixed(0.002), 'p99<50ms'],
  ['M/M/1', exponential(0.002), 'p99<50ms'],
];

/** A comparison of a server with itself. */
interface Alike {
  /** The log ratios of the capacities in the rounds to the first look. */
  values: number[];
  /** The look that called them different; absent if none did. */
  different?: number;
}

/** Compares a server with itself until a look decides. */
function compareAlike(queue: Queue, promise: Promised, pair: number): Alike {
  const weather = createRandom(1_000_000 + pair);
  const earlier: Record<string, FoundCapacity[]> = { a: [], b: [] };
  const trials: Trial[] = [];
  const alike: Alike = { values: [] };
  for (const look of LOOKS) {
    for (let index = trials.length / 2; index < look; index++) {
      for (const target of (index + pair) % 2 === 0 ? ['b', 'a'] : ['a', 'b']) {
        const seed = 100 * (mostRounds(SCHEDULE) * pair + index) + (target === 'a' ? 0 : 1);
        const own = { target, round: index + 1, seed, isBrief: true };
        const common = { queue, promise, seconds: SECONDS, changing: CHANGING, weather };
        trials.push(simulateTrial({ ...own, ...common }, earlier[target]!).trial);
      }
    }
    const contestants = { candidate: 'b', baseline: 'a', connections: 100 };
    const differences = differencesWithin(trials, contestants, 'capacity');
    if (look === FIRST) alike.values = valuesOf(differences);
    const rules = { better: 'higher', threshold: thresholdFor('capacity'), schedule: SCHEDULE } as const;
    const { verdict } = compareRounds(differences, rules);
    if (verdict === 'same') break;
    if (verdict !== 'undecided') return { ...alike, different: look };
  }
  return alike;
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

console.log(
  '| server | comparisons | deviation of the difference | as its rounds tell | correlation of two rounds | of the first and another | called different |',
);
console.log('|---|---|---|---|---|---|---|');
for (const [name, queue, text] of SERVERS) {
  if (!name.includes(wanted)) continue;
  const [promise] = readPromises(text, 'slo') as [Promised];
  const compared = Array.from({ length: pairs }, (_, pair) => compareAlike(queue, promise, pair)).filter(
    ({ values }) => values.length === FIRST,
  );
  const all = compared.map(({ values }) => values);
  const square = mean(all.flatMap((one) => one.map((value) => value ** 2)));
  /** The mean product of the differences of two rounds, relative to their mean square: the truth is 0. */
  const correlate = (of: (one: readonly number[]) => number, products: number): number =>
    mean(all.map(of)) / products / square;
  const between = correlate(
    (one) => sum(one) ** 2 - sum(one.map((value) => value ** 2)),
    FIRST * (FIRST - 1),
  );
  const first = correlate(([one = 0, ...others]) => one * sum(others), FIRST - 1);
  const told = mean(
    all.map((one) => {
      const centre = mean(one);
      return sum(one.map((value) => (value - centre) ** 2)) / (FIRST - 1) / FIRST;
    }),
  );
  const calls = LOOKS.map((look) => compared.filter(({ different }) => different === look).length);
  const cells = [
    `${name} at ${text}`,
    String(all.length),
    percent(Math.sqrt(mean(all.map((one) => mean(one) ** 2)))),
    percent(Math.sqrt(told)),
    between.toFixed(2),
    first.toFixed(2),
    `${calls.join(' + ')} (${percent(sum(calls) / all.length)})`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

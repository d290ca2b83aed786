/**
 * How often do two equal servers differ? Simulates comparisons of a server with itself, as far as the first look of a
 * sequential test of capacities: if all differences have one sign, it decides.
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/alike.ts [pairs] [name]
 */
import { differencesWithin } from 'bench-analysis/compare';
import { valuesOf } from 'bench-analysis/differences';
import type { FoundCapacity } from 'bench-model/measured';
import { readPromises, type Promised } from 'bench-model/promise';
import { mean, sum } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { exponential, fixed, type Queue } from '../../testing/queues.ts';
import { simulateTrial } from './simulated.ts';

const [pairs = 150] = process.argv.slice(2, 3).map(Number);
const [wanted = ''] = process.argv.slice(3);
const ROUNDS = 8;
const SECONDS = 12;
/** The standard deviation of the logarithm of a service time between trials. */
const CHANGING = 0.02;

const SERVERS: [name: string, queue: Queue, promise: string][] = [
  ['M/D/1', fixed(0.002), 'p99<50ms'],
  ['M/M/1', exponential(0.002), 'p99<50ms'],
];

/** Returns the log ratio of the capacities of a server and itself, by round. */
function compareAlike(queue: Queue, promise: Promised, pair: number): number[] {
  const weather = createRandom(1_000_000 + pair);
  const earlier: Record<string, FoundCapacity[]> = { a: [], b: [] };
  const trials = Array.from({ length: ROUNDS }, (_, index) => {
    const order = (index + pair) % 2 === 0 ? ['b', 'a'] : ['a', 'b'];
    return order.map((target) => {
      const seed = 100 * (ROUNDS * pair + index) + (target === 'a' ? 0 : 1);
      const own = { target, round: index + 1, seed, isBrief: true };
      const common = { queue, promise, seconds: SECONDS, changing: CHANGING, weather };
      return simulateTrial({ ...own, ...common }, earlier[target]!).trial;
    });
  }).flat();
  return valuesOf(differencesWithin(trials, { candidate: 'b', baseline: 'a', connections: 100 }, 'capacity'));
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

console.log(
  '| server | comparisons | deviation of the difference | as its rounds tell | correlation of two rounds | of the first and another | all of one sign |',
);
console.log('|---|---|---|---|---|---|---|');
for (const [name, queue, text] of SERVERS) {
  if (!name.includes(wanted)) continue;
  const [promise] = readPromises(text, 'slo') as [Promised];
  const all = Array.from({ length: pairs }, (_, pair) => compareAlike(queue, promise, pair)).filter(
    ({ length }) => length === ROUNDS,
  );
  const square = mean(all.flatMap((one) => one.map((value) => value ** 2)));
  /** The mean product of the differences of two rounds, relative to their mean square: the truth is 0. */
  const correlate = (of: (one: readonly number[]) => number, products: number): number =>
    mean(all.map(of)) / products / square;
  const between = correlate(
    (one) => sum(one) ** 2 - sum(one.map((value) => value ** 2)),
    ROUNDS * (ROUNDS - 1),
  );
  const first = correlate(([one = 0, ...others]) => one * sum(others), ROUNDS - 1);
  const told = mean(
    all.map((one) => {
      const centre = mean(one);
      return sum(one.map((value) => (value - centre) ** 2)) / (ROUNDS - 1) / ROUNDS;
    }),
  );
  const decided = all.filter((one) => one.every((value) => value > 0) || one.every((value) => value < 0));
  const cells = [
    `${name} at ${text}`,
    String(all.length),
    percent(Math.sqrt(mean(all.map((one) => mean(one) ** 2)))),
    percent(Math.sqrt(told)),
    between.toFixed(2),
    first.toFixed(2),
    `${decided.length} (${percent(decided.length / all.length)})`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

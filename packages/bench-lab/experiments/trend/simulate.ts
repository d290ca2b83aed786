/**
 * Simulates the log ratios of servers that take turns: how often is a trend found in noise, and how often a true one?
 *
 *     pnpm exec node packages/bench-lab/experiments/trend/simulate.ts [series]
 */
import { findTrend } from 'bench-statistics/trend';
import { createRandom, type Random } from 'bench-statistics/random';

const SERIES = Number(process.argv[2] ?? 2000);
/** The turns of the shortest series that is tested, of a warm-up, and of windows of 1 and 2 s. */
const LENGTHS = [16, 24, 50, 100];
/** Noise is large, so that a trend of 5 % is no hurdle for a false one. */
const NOISE = 0.3;

/** Draws noise with a standard deviation of about 1. */
type Draw = (random: Random, count: number) => number[];

const autocorrelated =
  (correlation: number): Draw =>
  (random, count) => {
    let value = random.normal();
    return Array.from({ length: count }, () => {
      const now = value;
      value = correlation * value + Math.sqrt(1 - correlation ** 2) * random.normal();
      return now;
    });
  };
const independent = autocorrelated(0);

const NOISES: Record<string, Draw> = {
  independent,
  "heavy tails: Student's t with 2 degrees of freedom": (random, count) =>
    independent(random, count).map(
      (value) => value / Math.sqrt((random.normal() ** 2 + random.normal() ** 2) / 2),
    ),
  'bursts in every tenth turn': (random, count) =>
    independent(random, count).map((value) => value + (random.float() < 0.1 ? 5 * random.normal() : 0)),
  'autocorrelated by 0.3': autocorrelated(0.3),
  'autocorrelated by 0.6': autocorrelated(0.6),
  'autocorrelated by 0.8': autocorrelated(0.8),
  'autocorrelated by 0.9': autocorrelated(0.9),
  'autocorrelated by 0.9, and as much independent noise': (random, count) => {
    const white = independent(random, count);
    return autocorrelated(0.9)(random, count).map(
      (value, at) => (value + (white[at] as number)) / Math.SQRT2,
    );
  },
};

/** The course of a true trend, from 0 to 1. */
const COURSES: Record<string, (time: number) => number> = {
  linear: (time) => time,
  'a warm-up that ends': (time) => 1 - Math.exp(-4 * time),
};

const random = createRandom(1);
console.log(`trends found, in % of ${SERIES} series\n`);
printHead('noise without a trend');
for (const [name, draw] of Object.entries(NOISES))
  print(name, (count) => draw(random, count).map((one) => NOISE * one));
console.log('');
printHead('trend in independent noise');
for (const [name, course] of Object.entries(COURSES)) {
  for (const [change, deviation] of [
    [0.05, 0.01],
    [0.1, 0.01],
    [0.1, 0.02],
    [0.1, 0.04],
    [0.2, 0.04],
  ] as const) {
    print(`${name}, ${change * 100} %, sd ${deviation * 100} %`, (count) =>
      independent(random, count).map(
        (one, at) => deviation * one + Math.log(1 + change) * course(at / (count - 1)),
      ),
    );
  }
}

function printHead(label: string): void {
  console.log(`| ${[label, ...LENGTHS.map((count) => `${count} turns`)].join(' | ')} |`);
  console.log(`|---|${LENGTHS.map(() => '---:|').join('')}`);
}

function print(label: string, draw: (count: number) => number[]): void {
  const shares = LENGTHS.map((count) => {
    const found = Array.from({ length: SERIES }, () => findTrend(draw(count))).filter(
      (one) => one !== undefined,
    );
    return ((100 * found.length) / SERIES).toFixed(1);
  });
  console.log(`| ${[label, ...shares].join(' | ')} |`);
}

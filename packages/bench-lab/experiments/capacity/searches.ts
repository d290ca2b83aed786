/**
 * How far from the truth is a capacity? Simulates servers whose capacity is known, and measures each in many runs of 9 rounds.
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/searches.ts [runs] [seconds of a search] [part of a name]
 */
import { readPromises, type Promised } from 'bench-model/promise';
import type { FoundCapacity } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { mean } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { differencesWithin } from 'bench-analysis/compare';
import { locateWithin } from 'bench-analysis/differences';
import { summarise } from 'bench-analysis/summary';
import { exponential, findCapacity, fixed, lognormal, mixed, type Queue } from '../../testing/queues.ts';
import { simulateTrial, slowDown } from './simulated.ts';

const [runs = 20, usualSeconds = 12, changing = 0.02] = process.argv.slice(2, 5).map(Number);
const [wanted = ''] = process.argv.slice(5);
const ROUNDS = 9;
/** A slower server has service times this many times as long. */
const SLOWER = 1.1;

const PAUSING: Queue = { ...fixed(0.002), pauses: { everySeconds: 5, seconds: 0.2 } };
const SERVERS: [name: string, queue: Queue, promise: string, seconds?: number][] = [
  ['2 ms each (M/D/1)', fixed(0.002), 'p99<20ms'],
  ['2 ms each (M/D/1)', fixed(0.002), 'p99<50ms'],
  ['2 ms on average (M/M/1)', exponential(0.002), 'p99<20ms'],
  ['2 ms on average (M/M/1)', exponential(0.002), 'p99<50ms'],
  ['0.2 ms on average (M/M/1)', exponential(0.0002), 'p99<20ms'],
  ['20 ms each, pool of 10 (M/D/10)', fixed(0.02, 10), 'p99<50ms'],
  ['20 ms on average, pool of 10 (M/M/10)', exponential(0.02, 10), 'p99<95ms'],
  ['20 ms on average, pool of 10 (M/M/10)', exponential(0.02, 10), 'p99<100ms'],
  ['20 ms on average, pool of 10 (M/M/10)', exponential(0.02, 10), 'p99<150ms'],
  ['20 ms on average, lognormal (0.8), pool of 40', lognormal(0.02, 0.8, 40), 'p99<110ms'],
  ['10 ms, but 0.5 % 60 ms, pool of 10', mixed(0.005, { slow: 0.06, fast: 0.01 }, 10), 'p99<50ms'],
  ['2 ms, but 0.5 % 60 ms', mixed(0.005, { slow: 0.06, fast: 0.002 }), 'p99<50ms'],
  ['2 ms each, pauses of 200 ms every 5 s', PAUSING, 'p99<250ms', 2 * usualSeconds],
];

/** Returns the trials of a run, and the pace of its servers relative to that of the queue. */
function measure(
  target: string,
  queue: Queue,
  promise: Promised,
  { seconds, seed }: { seconds: number; seed: number },
): { trials: Trial[]; pace: number } {
  const earlier: FoundCapacity[] = [];
  const weather = createRandom(1_000_000 + seed);
  const all = Array.from({ length: ROUNDS }, (_, index) => {
    const own = { round: index + 1, seed: ROUNDS * seed + index };
    return simulateTrial({ target, queue, promise, seconds, changing, weather, ...own }, earlier);
  });
  const pace = Math.exp(mean(all.map((one) => Math.log(one.pace))));
  return { trials: all.map(({ trial }) => trial), pace };
}

/** Returns the difference of two runs, and its interval. */
function compare(candidate: Trial[], baseline: Trial[]): ReturnType<typeof locateWithin> {
  const pair = { candidate: 'b', baseline: 'a', connections: 100 };
  return locateWithin(differencesWithin([...baseline, ...candidate], pair, 'capacity'), 0.05);
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
const count = <T>(some: readonly T[], is: (one: T) => boolean): string =>
  `${some.filter(is).length} of ${some.length}`;

console.log(
  '| server | promise | search | capacity | bias | deviation of a round | runs within 5 % | interval | holds it in | A/A different | 10 % slower found | noted |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|---|---|');
for (const [name, queue, text, seconds = usualSeconds] of SERVERS) {
  if (!name.includes(wanted)) continue;
  const [promise] = readPromises(text, 'slo') as [Promised];
  const capacity = findCapacity(queue, promise);
  const all = Array.from({ length: runs }, (_, seed) =>
    measure(seed % 2 === 0 ? 'a' : 'b', queue, promise, { seconds, seed }),
  );
  const errors = all.flatMap(({ trials, pace }) =>
    trials.flatMap((trial) => {
      const found = trial.status === 'failed' ? undefined : trial.measured.capacity;
      return found === undefined ? [] : [Math.log(found.perSecond / (capacity * pace))];
    }),
  );
  const deviation = Math.sqrt(mean(errors.map((error) => (error - mean(errors)) ** 2)));
  const found = all.flatMap(({ trials, pace }) => {
    const figure = summarise(trials)[0]?.figures.capacity;
    if (figure === undefined) return [];
    const { low, high } = figure.interval ?? { low: 0, high: Infinity };
    const errorOf = (perSecond: number): number => Math.log(perSecond / (capacity * pace));
    return [{ error: errorOf(figure.median), low: errorOf(low), high: errorOf(high) }];
  });
  const pairs = all.flatMap(({ trials: b }, index) =>
    index % 2 === 1 ? [{ a: all[index - 1]!.trials, b }] : [],
  );
  const alike = pairs.map(({ a, b }) => compare(b, a));
  const slower = slowDown(queue, SLOWER);
  const planted = pairs.map(({ a }, seed) =>
    compare(measure('b', slower, promise, { seconds, seed: runs + seed }).trials, a),
  );
  const cells = [
    `${Math.round(capacity).toLocaleString('en-US')}/s`,
    percent(mean(found.map(({ error }) => error))),
    percent(deviation),
    count(found, ({ error }) => Math.abs(error) < Math.log(1.05)),
    `±${percent(mean(found.map(({ low, high }) => (high - low) / 2)))}`,
    count(found, ({ low, high }) => low <= 0 && high >= 0),
    count(
      alike,
      ({ interval, centre }) =>
        interval !== undefined && interval.low * interval.high > 0 && Math.abs(centre) > Math.log(1.02),
    ),
    // Above 0, the candidate is worse.
    count(planted, ({ interval }) => interval !== undefined && interval.low > 0),
    count(all, ({ trials }) => (trials.at(-1)?.reasons ?? []).some(({ code }) => code === 'slo-rarely-met')),
  ];
  console.log(`| ${[name, text, `${seconds} s`, ...cells].join(' | ')} |`);
}

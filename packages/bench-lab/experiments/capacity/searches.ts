/**
 * How far from the truth is a capacity? Simulates servers whose capacity is known, and measures each in many runs of 12 rounds.
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/searches.ts [runs] [seconds of a search] [part of a name]
 */
import { CapacitySearch, STEP_SECONDS, sharesOf, type Earlier } from 'bench-http/measure/capacity';
import { readPromises, type Promised } from 'bench-model/promise';
import { medianInterval } from 'bench-statistics/median-interval';
import { mean, median } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { exactly, locateWithin } from 'bench-analysis/differences';
import {
  exponential,
  findCapacity,
  fixed,
  paceOf,
  SimulatedServer,
  type Queue,
} from '../../testing/queues.ts';

const [runs = 20, usualSeconds = 12] = process.argv.slice(2, 4).map(Number);
const [wanted = ''] = process.argv.slice(4);
const ROUNDS = 12;

const PAUSING: Queue = { ...fixed(0.002), pauses: { everySeconds: 5, seconds: 0.2 } };
const SERVERS: [name: string, queue: Queue, promise: string, seconds?: number][] = [
  ['2 ms each (M/D/1)', fixed(0.002), 'p99<20ms'],
  ['2 ms each (M/D/1)', fixed(0.002), 'p99<50ms'],
  ['2 ms on average (M/M/1)', exponential(0.002), 'p99<20ms'],
  ['2 ms on average (M/M/1)', exponential(0.002), 'p99<50ms'],
  ['0.2 ms on average (M/M/1)', exponential(0.0002), 'p99<20ms'],
  ['20 ms each, pool of 10 (M/D/10)', fixed(0.02, 10), 'p99<50ms'],
  ['20 ms on average, pool of 10 (M/M/10)', exponential(0.02, 10), 'p99<100ms'],
  ['2 ms each, pauses of 200 ms every 5 s', PAUSING, 'p99<250ms', 2 * usualSeconds],
];

/** Returns the capacity that each round of a run finds. */
function measure(
  queue: Queue,
  promise: Promised,
  { seconds, seed }: { seconds: number; seed: number },
): number[] {
  const earlier: Earlier[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = new SimulatedServer(queue, createRandom(ROUNDS * seed + round));
    const search = new CapacitySearch([promise], { seconds, pacePerSecond: paceOf(queue), earlier });
    const steps: Earlier['steps'][number][] = [];
    for (let step = search.next(); step !== undefined; step = search.next()) {
      const load = server.load(step.perSecond, step.seconds, STEP_SECONDS.ramp);
      search.add(step, load);
      const { requests, counted } = sharesOf(promise, step.perSecond, load);
      steps.push({
        perSecond: step.perSecond,
        requests,
        brokenShare: requests === 0 ? 1 : counted / requests,
      });
    }
    earlier.push({ ...search.result(), steps });
  }
  return earlier.map(({ perSecond }) => perSecond);
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

console.log(
  '| server | promise | search | capacity | bias | deviation of a round | runs within 5 % | interval | holds it in | A/A different |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|');
for (const [name, queue, text, seconds = usualSeconds] of SERVERS) {
  if (!name.includes(wanted)) continue;
  const [promise] = readPromises(text, 'slo') as [Promised];
  const capacity = findCapacity(queue, promise);
  const all = Array.from({ length: runs }, (_, seed) =>
    measure(queue, promise, { seconds, seed }).map((perSecond) => Math.log(perSecond / capacity)),
  );
  const errors = all.flat();
  const deviation = Math.sqrt(mean(errors.map((error) => (error - mean(errors)) ** 2)));
  const medians = all.map(median);
  const intervals = all.map((found) => medianInterval(found) ?? { low: -Infinity, high: Infinity });
  const pairs = all
    .slice(1)
    .flatMap((found, index) => (index % 2 === 0 ? [[found, all[index]!] as const] : []));
  const isFalse = pairs.filter(([one, other]) => {
    const { interval, centre } = locateWithin(
      exactly(one.map((value, round) => value - other[round]!)),
      0.05,
    );
    return interval !== undefined && interval.low * interval.high > 0 && Math.abs(centre) > Math.log(1.02);
  });
  const figures = [
    `${Math.round(capacity).toLocaleString('en-US')}/s`,
    percent(mean(medians)),
    percent(deviation),
    `${medians.filter((error) => Math.abs(error) < Math.log(1.05)).length} of ${runs}`,
    `±${percent(mean(intervals.map(({ low, high }) => (high - low) / 2)))}`,
    `${intervals.filter(({ low, high }) => low <= 0 && high >= 0).length} of ${runs}`,
    `${isFalse.length} of ${pairs.length}`,
  ];
  console.log(`| ${[name, text, `${seconds} s`, ...figures].join(' | ')} |`);
}

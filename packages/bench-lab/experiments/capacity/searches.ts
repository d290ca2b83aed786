/**
 * How far from the truth is a capacity? Simulates servers whose capacity is known, and measures each in many runs of 12 rounds.
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/searches.ts [runs]
 */
import { CapacitySearch, STEP_SECONDS } from 'bench-http/measure/capacity';
import { allowedShare, readPromises, type Promised } from 'bench-model/promise';
import { mean, median } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { countAbove, mergeHistograms } from 'bench-statistics/histogram';
import { exponential, fixed, paceOf, SimulatedServer, type Queue } from '../../testing/queues.ts';

const [runs = 20] = process.argv.slice(2).map(Number);
const ROUNDS = 12;
const SEARCH_SECONDS = 12;

const PAUSING: Queue = { ...fixed(0.001), pauses: { everySeconds: 5, seconds: 0.2 } };
const SERVERS: [name: string, queue: Queue, promise: string, seconds?: number][] = [
  ['2 ms each (M/D/1)', fixed(0.002), 'p99<20ms'],
  ['2 ms each (M/D/1)', fixed(0.002), 'p99<50ms'],
  ['2 ms on average (M/M/1)', exponential(0.002), 'p99<20ms'],
  ['2 ms on average (M/M/1)', exponential(0.002), 'p99<50ms'],
  ['0.2 ms on average (M/M/1)', exponential(0.0002), 'p99<20ms'],
  ['0.2 ms each (M/D/1)', fixed(0.0002), 'p99.9<20ms'],
  ['20 ms each, pool of 10 (M/D/10)', fixed(0.02, 10), 'p99<50ms'],
  ['20 ms on average, pool of 10 (M/M/10)', exponential(0.02, 10), 'p99<100ms'],
  ['1 ms each, pauses of 200 ms every 5 s', PAUSING, 'p99<250ms', 60],
];

/** Returns the capacity over a time without end, by bisection of one long load. */
function findCapacity(queue: Queue, promise: Promised): number {
  let [low, high] = [0, paceOf(queue)];
  for (let turn = 0; turn < 14; turn++) {
    const rate = (low + high) / 2;
    const load = new SimulatedServer(queue, createRandom(1)).load(rate, 400_000 / paceOf(queue), 1);
    const histogram = mergeHistograms([load.latencyHistogram ?? '']);
    const share = countAbove(histogram, promise.belowUs ?? 0) / histogram.totalCount;
    if (share < allowedShare(promise, histogram.totalCount)) low = rate;
    else high = rate;
  }
  return (low + high) / 2;
}

/** Returns the capacity that each round of a run finds. */
function measure(
  queue: Queue,
  promise: Promised,
  { seconds, seed }: { seconds: number; seed: number },
): number[] {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = new SimulatedServer(queue, createRandom(ROUNDS * seed + round));
    const known = found.length === 0 ? undefined : median(found);
    const search = new CapacitySearch([promise], { seconds, pacePerSecond: paceOf(queue), known });
    for (let step = search.next(); step !== undefined; step = search.next())
      search.add(step, server.load(step.perSecond, step.seconds, STEP_SECONDS.ramp));
    found.push(search.result().perSecond);
  }
  return found;
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

console.log('| server | promise | search | capacity | bias | deviation of a round | runs within 5 % |');
console.log('|---|---|---|---|---|---|---|');
for (const [name, queue, text, seconds = SEARCH_SECONDS] of SERVERS) {
  const [promise] = readPromises(text, 'slo') as [Promised];
  const capacity = findCapacity(queue, promise);
  const all = Array.from({ length: runs }, (_, seed) => measure(queue, promise, { seconds, seed }));
  const errors = all.flat().map((perSecond) => Math.log(perSecond / capacity));
  const medians = all.map((found) => Math.log(median(found) / capacity));
  const deviation = Math.sqrt(mean(errors.map((error) => (error - mean(errors)) ** 2)));
  const near = medians.filter((error) => Math.abs(error) < 0.05).length;
  const figures = [
    `${Math.round(capacity).toLocaleString('en-US')}/s`,
    percent(mean(medians)),
    percent(deviation),
  ];
  console.log(`| ${[name, text, `${seconds} s`, ...figures, `${near} of ${runs}`].join(' | ')} |`);
}

/**
 * Is a capacity right on servers whose service times are known? Each of these runs takes less than five minutes; `--resume` completes one
 * that was interrupted:
 *
 *   pnpm bench --stack packages/bench-lab/planted/service/stack.json service/fixed service/slower \
 *     --slo 'p99<50ms' --connections 100 --rounds 9 --warmup 1
 *   … service/exponential service/pool --slo 'p99<50ms' --connections 100 --rounds 9 --warmup 1
 *   … service/fixed --noise --slo 'p99<50ms' --connections 100 --rounds 9 --warmup 1
 *   … service/pauses --slo 'p99<250ms' --connections 100 --rounds 8 --warmup 1 --duration 24
 *
 * This prints a row for each of their targets, and one for each comparison:
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/known.ts <run>…
 *
 * The service time S of a server that computes is its CPU per request, and of a pool of n it is n ÷ the goodput of the closed loop. In
 * M/M/1 the time in the system is exponential, so P(T > t) = exp(−(1/S − λ) t), and the capacity is 1/S − ln(100)/t for
 * p99 < t. M/D/1, M/D/10 and pauses are simulated.
 */
import { findRun, readRun, type StoredRun } from 'bench-analysis/results/store';
import { compareWithin, type ComparedRow } from 'bench-analysis/compare';
import { summarise, type Row } from 'bench-analysis/summary';
import type { Measured } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { median } from 'bench-statistics/numbers';
import { exponential, findCapacity, fixed, type Queue } from '../../testing/queues.ts';

/** The mean service time in seconds, and the queue with it. */
const SERVERS: Record<string, { workers?: number; queue: (seconds: number) => Queue }> = {
  service: { queue: fixed },
  'service/slower': { queue: fixed },
  'service/exponential': { queue: exponential },
  'service/pauses': {
    queue: (seconds) => ({ ...fixed(seconds), pauses: { everySeconds: 5, seconds: 0.2 } }),
  },
  'service/pool': { workers: 10, queue: (seconds) => fixed(seconds, 10) },
};
const THRESHOLD = 0.02;

const capacities: string[][] = [];
const comparisons: string[][] = [];
for (const name of process.argv.slice(2)) {
  const run = readRun(findRun(name));
  const truths = new Map<string, number>();
  for (const row of summarise(run.trials)) {
    const truth = findTruth(row.target, run.trials);
    if (truth === undefined) continue;
    truths.set(row.target, truth.capacity);
    capacities.push(describeRow(row, truth));
  }
  if (truths.size < 2) continue;
  for (const { candidate, baseline, comparison } of comparePairs(run)) {
    const { verdict, rounds, ratio } = comparison;
    const truth = (truths.get(candidate) ?? NaN) / (truths.get(baseline) ?? NaN);
    const interval =
      ratio?.interval && `× ${ratio.interval.low.toFixed(3)} to × ${ratio.interval.high.toFixed(3)}`;
    const found = ratio === undefined ? '—' : `× ${ratio.estimate.toFixed(3)}`;
    comparisons.push([
      `${candidate} ÷ ${baseline}`,
      `${rounds}`,
      `× ${truth.toFixed(3)}`,
      found,
      interval ?? '—',
      verdict,
    ]);
  }
}
print(
  ['server', 'promise', 'rounds', 'service time', 'true capacity', 'found', 'interval', 'error'],
  capacities,
);
print(['servers', 'rounds', 'true ratio', 'found', 'interval', 'verdict'], comparisons);

/** Compares each target with the first, as a run of these two would: in one of more targets, intervals are wider. */
function comparePairs({ plan, trials }: StoredRun): ComparedRow[] {
  const [first, ...others] = plan.targets.map(({ id }) => id);
  return others.flatMap((other) => {
    const isOne = (id: string): boolean => id === first || id === other;
    const pair = {
      plan: { ...plan, targets: plan.targets.filter(({ id }) => isOne(id)) },
      trials: trials.filter(({ target }) => isOne(target.id)),
    };
    return compareWithin(pair, { by: 'capacity', threshold: THRESHOLD }).rows;
  });
}

interface Truth {
  promise: string;
  serviceSeconds: number;
  capacity: number;
}

function findTruth(target: string, trials: readonly Trial[]): Truth | undefined {
  const name = target.replace(/[@ ].*/, '');
  const server = SERVERS[name];
  const own: Measured[] = trials.flatMap((trial) =>
    trial.target.id === target && trial.status !== 'failed' ? [trial.measured] : [],
  );
  const searches = own.flatMap(({ capacity }) => capacity ?? []);
  const [first] = searches;
  if (server === undefined || first === undefined) return undefined;
  const { by } = first;
  const { workers } = server;
  const serviceSeconds =
    workers === undefined
      ? median(own.flatMap(({ cpuUsPerRequest }) => cpuUsPerRequest ?? [])) / 1e6
      : workers / median(searches.map(({ pacePerSecond }) => pacePerSecond));
  const limitMs = (by.belowUs ?? 0) / 1000;
  const capacity =
    name === 'service/exponential'
      ? 1 / serviceSeconds - Math.log(100) / (limitMs / 1000)
      : findCapacity(server.queue(serviceSeconds), by);
  return { promise: `${by.of} < ${limitMs} ms`, serviceSeconds, capacity };
}

function describeRow({ target, figures }: Row, { promise, serviceSeconds, capacity }: Truth): string[] {
  const { median: found = NaN, rounds = 0, interval } = figures.capacity ?? {};
  return [
    target,
    promise,
    `${rounds}`,
    `${(1000 * serviceSeconds).toFixed(3)} ms`,
    `${capacity.toFixed(0)}/s`,
    `${found.toFixed(0)}/s`,
    interval === undefined ? '—' : `${interval.low.toFixed(0)}/s to ${interval.high.toFixed(0)}/s`,
    `${(100 * (found / capacity - 1)).toFixed(1)} %`,
  ];
}

function print(heading: string[], rows: string[][]): void {
  if (rows.length === 0) return;
  console.log(
    [heading, heading.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    '\n',
  );
}

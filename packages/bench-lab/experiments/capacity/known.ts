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
 * With PLANTED_TIMES=<file> in their environment, the servers write how long a request took them. This prints a row for each target of
 * the runs, and one for each comparison:
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/known.ts <file> <run>…
 *
 * The service time of a server that computes is what its event loop does per request, and of a pool the time for which a request holds its
 * place. Queues with these times are simulated for a time without end: M/D/1, M/D/10, and M/G/1 with pauses or with exponential times
 * after a fixed overhead.
 */
import { readFileSync } from 'node:fs';
import { findRun, readRun, type StoredRun } from 'bench-analysis/results/store';
import { compareWithin, type ComparedRow } from 'bench-analysis/compare';
import { summarise, type Row } from 'bench-analysis/summary';
import type { Measured } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { median } from 'bench-statistics/numbers';
import { findCapacity, fixed, type Queue } from '../../testing/queues.ts';

/** The options of a planted server that decide what it is, and those of `service`. */
const PLAIN = { 'service-ms': '2', exponential: false, pool: '0', 'pause-ms': '0' };

/** What a planted server writes at its end: its options, and how long a request took a worker. */
type Told = typeof PLAIN & { meanMs: number };

/** How each server differs from `service`, and the queue that it is. */
const SERVERS: Record<string, { options?: Partial<typeof PLAIN>; queue: (seconds: number) => Queue }> = {
  service: { queue: fixed },
  'service/slower': { options: { 'service-ms': '2.2' }, queue: fixed },
  'service/exponential': {
    options: { exponential: true },
    queue: (seconds) => ({
      ...fixed(seconds),
      service: (random) => seconds - 0.002 - 0.002 * Math.log(1 - random.float()),
    }),
  },
  'service/pauses': {
    options: { 'pause-ms': '200' },
    queue: (seconds) => ({ ...fixed(seconds), pauses: { everySeconds: 5, seconds: 0.2 } }),
  },
  'service/pool': {
    options: { 'service-ms': '20', pool: '10' },
    queue: (seconds) => fixed(seconds, 10),
  },
};

/** Returns true if the server with these options wrote a line. */
function wrote(told: Told, options: Partial<typeof PLAIN> = {}): boolean {
  return Object.entries({ ...PLAIN, ...options }).every(
    ([name, value]) => told[name as keyof Told] === value,
  );
}

const THRESHOLD = 0.02;

const [file = '', ...names] = process.argv.slice(2);
const told = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Told);
const capacities: string[][] = [];
const comparisons: string[][] = [];
for (const name of names) {
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
  const serviceSeconds =
    median(told.filter((one) => wrote(one, server.options)).map(({ meanMs }) => meanMs)) / 1000;
  const capacity = findCapacity(server.queue(serviceSeconds), by);
  return { promise: `${by.of} < ${(by.belowUs ?? 0) / 1000} ms`, serviceSeconds, capacity };
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

/**
 * Is a capacity right on servers whose service times are known? Prints a row for each target of stored runs:
 *
 *   pnpm bench --stack packages/bench-lab/planted/service/stack.json service/fixed service/exponential service/pool \
 *     --slo 'p99<50ms' --connections 100 --rounds 6 --warmup 1
 *   pnpm bench --stack packages/bench-lab/planted/service/stack.json service/pauses \
 *     --slo 'p99<250ms' --connections 100 --rounds 6 --warmup 1 --duration 24
 *   pnpm exec node packages/bench-lab/experiments/capacity/known.ts <run>…
 *
 * The service time S of a server that computes is its CPU per request, and of a pool of n it is n ÷ the goodput of the closed loop. In
 * M/M/1 the time in the system is exponential, so P(T > t) = exp(−(1/S − λ) t), and the capacity is 1/S − ln(100)/t for
 * p99 < t. M/D/1, M/D/10 and pauses are simulated.
 */
import { findRun, readRun } from 'bench-analysis/results/store';
import type { Measured } from 'bench-model/measured';
import { medianInterval } from 'bench-statistics/median-interval';
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

console.log(
  '| server | promise | rounds | service time | true capacity | found | interval | error | within 5 % |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
for (const name of process.argv.slice(2)) {
  const { trials } = readRun(findRun(name));
  const measured = trials.flatMap((trial) =>
    trial.status === 'failed' ? [] : [{ target: trial.target.id.replace(/@.*/, ''), ...trial.measured }],
  );
  for (const [target, own] of Map.groupBy(measured, (one) => one.target)) showTarget(target, own);
}

function showTarget(target: string, own: readonly Measured[]): void {
  const server = SERVERS[target];
  const searches = own.flatMap(({ capacity }) => capacity ?? []);
  const [first] = searches;
  if (server === undefined || first === undefined) return;
  const { by } = first;
  const { workers } = server;
  const seconds =
    workers === undefined
      ? median(own.flatMap(({ cpuUsPerRequest }) => cpuUsPerRequest ?? [])) / 1e6
      : workers / median(searches.map(({ pacePerSecond }) => pacePerSecond));
  const isMM1 = target === 'service/exponential';
  const capacity = isMM1
    ? 1 / seconds - Math.log(100) / ((by.belowUs ?? 0) / 1e6)
    : findCapacity(server.queue(seconds), by);
  const found = searches.map(({ perSecond }) => perSecond);
  const interval = medianInterval(found);
  const error = median(found) / capacity - 1;
  const cells = [
    target,
    `${by.of} < ${(by.belowUs ?? 0) / 1000} ms`,
    found.length,
    `${(1000 * seconds).toFixed(3)} ms`,
    `${capacity.toFixed(0)}/s`,
    `${median(found).toFixed(0)}/s`,
    interval === undefined ? '—' : `${interval.low.toFixed(0)}/s to ${interval.high.toFixed(0)}/s`,
    `${(100 * error).toFixed(1)} %`,
    Math.abs(error) < 0.05 ? 'yes' : 'no',
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

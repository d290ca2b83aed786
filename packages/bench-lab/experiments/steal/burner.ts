/**
 * Finds out whether the CPU time of a thread contains the time that the hypervisor took from its core: a loop of equal
 * pieces of work, beside the counters of that core. Runs on one core, for this many seconds:
 *
 *     taskset -c 1 pnpm exec node packages/bench-lab/experiments/steal/burner.ts 1 240
 *
 * While a thread has work, its core gives its time to this thread, to other threads (the wait of `schedstat`) or to other
 * guests. What is missing from the wall clock is therefore steal, if CPU time excludes it, and nothing, if CPU time
 * contains it.
 */
import { readFileSync } from 'node:fs';
import { US_PER_TICK } from 'bench-machine/procfs';
import { median, sum } from 'bench-statistics/numbers';
import { quantile } from './quantile.ts';

const SPAN_US = 1e6;
const [core = '0', seconds = '60'] = process.argv.slice(2);

/** The counters at one moment, in µs. */
interface Reading {
  wallUs: number;
  cpuUs: number;
  waitUs: number;
  stolenUs: number;
}

function read(): Reading {
  const [cpuNs = 0, waitNs = 0] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8')
    .split(' ')
    .map(Number);
  const line = new RegExp(`^cpu${core} (.+)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '';
  return {
    wallUs: performance.now() * 1000,
    cpuUs: cpuNs / 1000,
    waitUs: waitNs / 1000,
    stolenUs: Number(line.split(' ')[7]) * US_PER_TICK,
  };
}

const state = new Int32Array([1]);

/** One piece of work, of about 1 ms. */
function work(): void {
  for (let step = 0; step < 300_000; step++) state[0] = Math.imul(state[0]!, 1_664_525) + 1_013_904_223;
}

/** One span: what the work cost, and where the time went, in µs. */
interface Span extends Reading {
  pieces: number;
}

const spans: Span[] = [];
for (let warm = 0; warm < 1000; warm++) work();
const end = performance.now() + Number(seconds) * 1000;
let before = read();
while (performance.now() < end) {
  let pieces = 0;
  while (performance.now() * 1000 < before.wallUs + SPAN_US) {
    work();
    pieces++;
  }
  const after = read();
  spans.push({
    pieces,
    wallUs: after.wallUs - before.wallUs,
    cpuUs: after.cpuUs - before.cpuUs,
    waitUs: after.waitUs - before.waitUs,
    stolenUs: after.stolenUs - before.stolenUs,
  });
  before = after;
}

const quiet = spans.filter(({ stolenUs }) => stolenUs === 0);
const costOf = ({ cpuUs, pieces }: Span): number => cpuUs / pieces;
const missingOf = ({ wallUs, cpuUs, waitUs }: Span): number => wallUs - cpuUs - waitUs;
const usual = median(quiet.map(costOf));
console.log(
  '| stolen in a span | spans | stolen, s | missing from the wall clock, s | CPU per piece ÷ quiet: median | p10 | p90 |',
);
console.log('|---|---:|---:|---:|---:|---:|---:|');
const stolen = spans.filter(({ stolenUs }) => stolenUs > 0);
for (const [name, some] of [
  ['nothing', quiet],
  ['something', stolen],
  ['all', spans],
] as const) {
  if (some.length === 0) continue;
  const ratios = some.map((one) => costOf(one) / usual);
  const figures = [median(ratios), quantile(ratios, 0.1), quantile(ratios, 0.9)].map((one) => one.toFixed(3));
  const totals = [sum(some.map((one) => one.stolenUs)), sum(some.map(missingOf))].map((us) =>
    (us / 1e6).toFixed(2),
  );
  console.log(`| ${[name, some.length, ...totals, ...figures].join(' | ')} |`);
}

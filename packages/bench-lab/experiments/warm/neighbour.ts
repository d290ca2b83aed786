/**
 * A neighbour that takes a third of a core in bursts of 0.7 s on average, as in the simulated studies of warm-up:
 *
 *     taskset --cpu-list 1 pnpm exec node packages/bench-lab/experiments/warm/neighbour.ts [seconds]
 */
import { setTimeout as sleep } from 'node:timers/promises';

const BURST_MS = { busy: 700, idle: 1400 };

const endsAtMs = performance.now() + 1000 * Number(process.argv[2] ?? '60');

/** Draws from an exponential distribution with this mean. */
function draw(meanMs: number): number {
  return -meanMs * Math.log(1 - Math.random());
}

while (performance.now() < endsAtMs) {
  const until = performance.now() + draw(BURST_MS.busy);
  while (performance.now() < until);
  await sleep(draw(BURST_MS.idle));
}

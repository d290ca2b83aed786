/**
 * The thread of an alarm: waits until the time in shared memory and tells the event loop. It waits less than the whole time, by
 * as much as its last waits were too long, and spins for the rest.
 */
import { writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { readLink } from 'bench-machine/procfs';
import { orUndefined } from 'bench-model/errors';
import { clamp } from 'bench-statistics/numbers';
import { sharedNowMs, type AlarmClock } from './alarm-clock.ts';

/** The spinning at most: a sleeping core of a virtual machine needs up to 0.3 ms to wake up. */
const MOST_MS = 0.4;
/** The spinning at most, as a share of the wait: the rest of the core is the load's. */
const MOST_SHARE = 0.05;
/** The share of waits that end before their time. */
const EARLY_SHARE = 0.9;
const STEP_MS = 0.02;

const { changes, ringsAtMs } = workerData as AlarmClock;
let excessMs = 0.1;

tightenTimers();
for (;;) {
  const seen = Atomics.load(changes, 0);
  const atMs = ringsAtMs[0] as number;
  const waitMs = atMs - sharedNowMs();
  const earlyMs = Math.min(excessMs, MOST_SHARE * waitMs);
  if (waitMs > 0) {
    if (Atomics.wait(changes, 0, seen, waitMs - earlyMs) !== 'timed-out') continue;
    // A running quantile (Robbins and Monro).
    const isLonger = sharedNowMs() - atMs + earlyMs > excessMs;
    excessMs = clamp(excessMs + STEP_MS * (isLonger ? EARLY_SHARE : EARLY_SHARE - 1), 0, MOST_MS);
    while (sharedNowMs() < atMs);
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
  parentPort?.postMessage(undefined);
  Atomics.wait(changes, 0, seen);
}

/** Has the kernel end the waits of this thread in time: by default, it may take 50 µs longer to end several at once. */
function tightenTimers(): void {
  if (process.platform !== 'linux') return;
  const thread = readLink('/proc/thread-self').split('/').at(-1) ?? '';
  // Without the permission, requests leave a little later, which is recorded.
  orUndefined(() => writeFileSync(`/proc/${thread}/timerslack_ns`, '1'));
}

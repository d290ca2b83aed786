/**
 * Measures how late each way to wait for a time calls a function of the event loop, and the CPU that it uses.
 *
 *     taskset -c 1 pnpm exec node packages/bench-lab/experiments/release/experiment.ts [seconds]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Alarm } from 'bench-load/alarm';

const RATES = [100, 1000, 5000];
const LEAD_MS = 500;
/** The time that `setImmediate` spins before each call: timers of Node may end 1 ms late, and know whole ms only. */
const SPIN_MS = 2.2;

/** A way to wait. */
interface Way {
  name: string;
  /** Calls `due` whenever it may be time, until it returns undefined; otherwise it returns the next time. Returns its end. */
  start: (due: () => number | undefined) => Promise<() => void>;
}

const WAYS: Way[] = [
  {
    name: '`setInterval` of 1 ms',
    async start(due) {
      const timer = setInterval(due, 1);
      return () => clearInterval(timer);
    },
  },
  {
    name: 'spin with `setImmediate`',
    async start(due) {
      const turn = (): void => {
        const next = due();
        if (next === undefined) return;
        const restMs = next - performance.now() - SPIN_MS;
        if (restMs > 0) setTimeout(turn, restMs);
        else setImmediate(turn);
      };
      turn();
      return () => {};
    },
  },
  { name: 'thread, message', start: (due) => startThread(due, { tells: 'message', slackNs: 0 }) },
  {
    name: 'thread, message, no timer slack',
    start: (due) => startThread(due, { tells: 'message', slackNs: 1 }),
  },
  {
    name: 'thread, `Atomics.waitAsync`, no timer slack',
    start: (due) => startThread(due, { tells: 'waitAsync', slackNs: 1 }),
  },
  {
    name: 'thread, message, no timer slack, short spin (chosen)',
    async start(due) {
      const alarm = await Alarm.start();
      const call = (): void => {
        const next = due();
        if (next !== undefined) alarm.set(call, next);
      };
      call();
      return () => alarm[Symbol.dispose]();
    },
  },
];

/** A thread that waits for the time in shared memory: the same as that of the alarm, without a spin. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { readlinkSync, writeFileSync } = require('node:fs');
  const { words, times, tells, slackNs } = workerData;
  const now = () => { const [s, ns] = process.hrtime(); return s * 1000 + ns / 1e6; };
  if (slackNs > 0) writeFileSync('/proc/' + readlinkSync('/proc/thread-self').split('/').at(-1) + '/timerslack_ns', String(slackNs));
  for (;;) {
    const seen = Atomics.load(words, 0);
    const waitMs = times[0] - now();
    if (waitMs > 0 && Atomics.wait(words, 0, seen, waitMs) !== 'timed-out') continue;
    if (tells === 'message') parentPort.postMessage(undefined);
    else { Atomics.add(words, 1, 1); Atomics.notify(words, 1); }
    Atomics.wait(words, 0, seen);
  }
`;

async function startThread(
  due: () => number | undefined,
  { tells, slackNs }: { tells: 'message' | 'waitAsync'; slackNs: number },
): Promise<() => void> {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const times = new Float64Array(new SharedArrayBuffer(8)).fill(Infinity);
  const worker = new Worker(THREAD, { eval: true, workerData: { words, times, tells, slackNs } });
  const ring = (): void => {
    const next = due();
    if (next === undefined) return;
    const [seconds, nanoseconds] = process.hrtime();
    times[0] = seconds * 1000 + nanoseconds / 1e6 + next - performance.now();
    Atomics.add(words, 0, 1);
    Atomics.notify(words, 0);
  };
  const listen = (): void => {
    const told = Atomics.waitAsync(words, 1, Atomics.load(words, 1));
    if (told.async) void told.value.then(listen);
    ring();
  };
  if (tells === 'message') worker.on('message', ring);
  if (tells === 'message') ring();
  else listen();
  return () => void worker.terminate();
}

async function measure({ start }: Way, rate: number, seconds: number) {
  const lateUs: number[] = [];
  let next = performance.now() + LEAD_MS;
  const end = next + seconds * 1000;
  const over = Promise.withResolvers<void>();
  const stop = await start(() => {
    const now = performance.now();
    for (; next <= now; next += 1000 / rate) lateUs.push((now - next) * 1000);
    if (next < end) return next;
    over.resolve();
    return undefined;
  });
  await sleep(LEAD_MS / 2);
  const before = process.cpuUsage();
  await over.promise;
  const { user, system } = process.cpuUsage(before);
  stop();
  const values = Float64Array.from(lateUs).toSorted();
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) =>
    values[Math.floor(share * values.length)]!.toFixed(0),
  );
  return { p50, p90, p99, cpu: ((user + system) / (seconds * 1e4)).toFixed(1) };
}

const seconds = Number(process.argv[2] ?? 3);
// A thread that waits does not keep its process running.
const awake = setInterval(() => {}, 60_000);
console.log('| waits by | starts per second | p50, µs | p90, µs | p99, µs | CPU, % of a core |');
console.log('|---|---:|---:|---:|---:|---:|');
for (const rate of RATES) {
  for (const way of WAYS) {
    const { p50, p90, p99, cpu } = await measure(way, rate, seconds);
    console.log(`| ${way.name} | ${rate} | ${p50} | ${p90} | ${p99} | ${cpu} |`);
  }
}
clearInterval(awake);

import { setTimeout as sleep } from 'node:timers/promises';

/** The result of the work, and headers with its duration. */
export interface Worked<T> {
  headers: Record<string, string>;
  body: T;
}

/** The answer to `GET /fib/{n}`: one Fibonacci number. */
interface Fib {
  fib: number;
}

/** The answer to `GET /wait`: the duration of the wait, in seconds. */
export interface Wait {
  duration: number;
}

const WAIT_MS = Number(process.env['BENCH_WAIT_MS'] ?? 50);
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** Computes fib(n) with fib(0) = fib(1) = 1, by naive recursion on the only thread. */
export function fib(n: number): Worked<Fib> {
  const started = performance.now();
  return withTiming('fib', started, { fib: count(n) });
}

/** Computes the same with async functions that never suspend. */
export async function asyncfib(n: number): Promise<Worked<Fib>> {
  const started = performance.now();
  return withTiming('fib', started, { fib: await countAsync(n) });
}

/** Blocks the only thread for `BENCH_WAIT_MS`. */
export function wait(): Worked<Wait> {
  const started = performance.now();
  Atomics.wait(NEVER_WOKEN, 0, 0, WAIT_MS);
  return withTiming('wait', started, { duration: WAIT_MS / 1000 });
}

/** Waits without blocking the thread. */
export async function asyncwait(): Promise<Worked<Wait>> {
  const started = performance.now();
  await sleep(WAIT_MS);
  return withTiming('wait', started, { duration: WAIT_MS / 1000 });
}

function count(n: number): number {
  return n < 2 ? 1 : count(n - 1) + count(n - 2);
}

async function countAsync(n: number): Promise<number> {
  return n < 2 ? 1 : (await countAsync(n - 1)) + (await countAsync(n - 2));
}

/** Adds the duration: `X-Process-Time` in seconds, `Server-Timing` in ms. */
function withTiming<T>(name: string, started: number, body: T): Worked<T> {
  const milliseconds = performance.now() - started;
  const headers = {
    'x-process-time': (milliseconds / 1000).toFixed(6),
    'server-timing': `${name};dur=${milliseconds.toFixed(3)}`,
  };
  return { headers, body };
}

import { setTimeout as sleep } from 'node:timers/promises';

/** What work came to, and the headers that say how long it took. */
export interface Worked<T> {
  headers: Record<string, string>;
  body: T;
}

/** What `GET /fib/{n}` answers: one number of the sequence. */
export interface Fib {
  fib: number;
}

/** What `GET /wait` answers: how long was waited, in seconds. */
export interface Wait {
  duration: number;
}

const WAIT_MS = Number(process.env['BENCH_WAIT_MS'] ?? 50);
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** The number at `n`, where those at 0 and 1 are 1, by naive recursion on the only thread. */
export function fib(n: number): Worked<Fib> {
  const started = performance.now();
  return tell('fib', started, { fib: count(n) });
}

/** The same by async functions, of which none ever waits. */
export async function asyncfib(n: number): Promise<Worked<Fib>> {
  const started = performance.now();
  return tell('fib', started, { fib: await countAsync(n) });
}

/** Blocks the only thread for as long as `BENCH_WAIT_MS` says. */
export function wait(): Worked<Wait> {
  const started = performance.now();
  Atomics.wait(NEVER_WOKEN, 0, 0, WAIT_MS);
  return tell('wait', started, { duration: WAIT_MS / 1000 });
}

/** Lets others have the thread meanwhile. */
export async function asyncwait(): Promise<Worked<Wait>> {
  const started = performance.now();
  await sleep(WAIT_MS);
  return tell('wait', started, { duration: WAIT_MS / 1000 });
}

function count(n: number): number {
  return n < 2 ? 1 : count(n - 1) + count(n - 2);
}

async function countAsync(n: number): Promise<number> {
  return n < 2 ? 1 : (await countAsync(n - 1)) + (await countAsync(n - 2));
}

/** `X-Process-Time` is in seconds, `Server-Timing` in ms. */
function tell<T>(name: string, started: number, body: T): Worked<T> {
  const milliseconds = performance.now() - started;
  const headers = {
    'x-process-time': (milliseconds / 1000).toFixed(6),
    'server-timing': `${name};dur=${milliseconds.toFixed(3)}`,
  };
  return { headers, body };
}

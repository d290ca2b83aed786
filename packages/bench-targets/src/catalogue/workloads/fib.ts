import { drawGet, USUAL_TIMES, type Workload } from './workload.ts';

/** Takes Python about 1 ms: longer than the HTTP work around it, shorter than the switch interval of its GIL (5 ms). */
const USUAL = 20;

/** `GET /fib/{n}`: naive recursion, pure CPU. */
export const fib = computeAt('fib', '/fib');

/** `GET /asyncfib/{n}`: the same recursion with coroutines that never suspend. */
export const asyncfib = computeAt('asyncfib', '/asyncfib');

/**
 * `n` is not drawn, because another `n` is another amount of work. A precomputed answer would pass the check, but
 * its low CPU per request would show.
 */
function computeAt(name: string, path: string): Workload {
  return {
    name,
    rungs: [1, 10, 100],
    ...USUAL_TIMES,
    // The largest n whose result fits into a signed 32-bit number.
    params: { n: { usual: USUAL, least: 0, most: 45 } },
    draw(_random, { n = USUAL }) {
      const expected = JSON.stringify({ fib: fibonacci(n) });
      return { ...drawGet(`${path}/${n}`, expected), timing: 'fib' };
    },
  };
}

/** Computes fib(n), with fib(0) = fib(1) = 1. */
function fibonacci(n: number): number {
  let [last, next] = [1, 1];
  for (let step = 0; step < n; step++) [last, next] = [next, last + next];
  return last;
}

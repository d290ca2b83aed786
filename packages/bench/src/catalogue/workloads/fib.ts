import { checkJson, type Workload } from './workload.ts';

/** Takes Python about a millisecond: more than the HTTP around it, and less than a turn of its GIL (5 ms). */
const USUAL = 20;

/** `GET /fib/{n}`: naive recursion, nothing but CPU. */
export const fib = computeAt('fib', '/fib');

/** `GET /asyncfib/{n}`: the same by coroutines, of which none ever waits. */
export const asyncfib = computeAt('asyncfib', '/asyncfib');

/**
 * Nothing is drawn for a trial, because another n is another amount of work: a prepared answer would pass, and show in
 * its CPU per request.
 */
function computeAt(name: string, path: string): Workload {
  return {
    name,
    rungs: [1, 10, 100],
    windowSeconds: 5,
    warmupSeconds: 2,
    timeoutSeconds: 10,
    // The last that a signed number of 32 bits can hold.
    params: { n: { usual: USUAL, least: 0, most: 45 } },
    draw(_random, { n = USUAL }) {
      const expected = JSON.stringify({ fib: fibonacci(n) });
      return {
        requests: [{ method: 'GET', path: `${path}/${n}`, headers: {} }],
        files: {},
        check: (answer) => checkJson(answer, expected),
        fixedBody: true,
        timing: 'fib',
      };
    },
  };
}

/** With fib(0) = fib(1) = 1. */
function fibonacci(n: number): number {
  let [last, next] = [1, 1];
  for (let step = 0; step < n; step++) [last, next] = [next, last + next];
  return last;
}

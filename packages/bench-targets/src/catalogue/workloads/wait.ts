import { drawGet, USUAL_TIMES, type Workload } from './workload.ts';

const USUAL_MS = 50;

/** `GET /wait`: the server blocks for `BENCH_WAIT_MS`, as if it asked a slow database. */
export const wait = waitAt('wait', '/wait');

/** `GET /asyncwait`: the same wait, awaited. */
export const asyncwait = waitAt('asyncwait', '/asyncwait');

function waitAt(name: string, path: string): Workload {
  return {
    name,
    rungs: [10, 100, 1000],
    ...USUAL_TIMES,
    params: { ms: { usual: USUAL_MS, least: 1, most: 60_000 } },
    waitSeconds: ({ ms = USUAL_MS }) => ms / 1000,
    draw(_random, { ms = USUAL_MS }) {
      const expected = JSON.stringify({ duration: ms / 1000 });
      return { ...drawGet(path, expected), env: { BENCH_WAIT_MS: String(ms) }, timing: 'wait' };
    },
  };
}

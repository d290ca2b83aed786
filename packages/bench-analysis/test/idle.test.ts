import { describe, expect, it } from 'vitest';
import type { Alone } from 'bench-model/measured';
import { explainIdle } from '../src/idle.ts';
import { isHeldBack } from '../src/judge/judge.ts';

type Explained = Parameters<typeof explainIdle>[0];

/** The pace of a window, its p50 and its p90. */
type Pace = readonly [goodputPerSecond: number, p50: number, p90?: number];

/** A window with ten connections, of an idle server. */
function windowOf(
  [goodputPerSecond, p50, p90 = p50]: Pace,
  alone: Alone,
  { limit = 'waiting', utilisation = 0.1 }: { limit?: Explained['limit']; utilisation?: number } = {},
): Explained {
  const latencyUs = { mean: p50, p50, p90, max: p90 };
  const generators = [{ cpuUs: 1, seconds: 1, utilisation }];
  return { load: { goodputPerSecond, latencyUs, connect: { planned: 10 }, generators }, alone, limit };
}

function aloneOf(keptUs: number): Alone {
  return { freshUs: keptUs, keptUs, bodyUs: 100 };
}

const HELD_BACK = { freshUs: 1900, keptUs: 47_400, bodyUs: 46_500 };
const SCHEDULE = { intended: 1, late: 0, dropped: 0 };
const POOL: Pace = [240, 41_500];
const CAUSES: [what: string, pace: Pace, aloneUs: number, cause: ReturnType<typeof explainIdle>][] = [
  ['a pool of 5, used for 20 ms', POOL, 20_800, { atOnce: 5, aloneUs: 20_800 }],
  ['a call of 50 ms that blocks the event loop', [19.8, 505_000], 50_500, { atOnce: 1, aloneUs: 50_500 }],
];

describe('isHeldBack', () => {
  // Measured one request at a time, on Linux.
  it.each([
    ['uvicorn with two workers', HELD_BACK, true],
    ["the JDK's HttpServer", { freshUs: 2700, keptUs: 45_400, bodyUs: 43_700 }, true],
    ['uvicorn with two workers and uvloop', { freshUs: 1500, keptUs: 600, bodyUs: 100 }, false],
    ['a sleep of 44 ms before the response', { freshUs: 45_900, keptUs: 45_300, bodyUs: 200 }, false],
    ['a head in several writes', { freshUs: 2751, keptUs: 43_930, bodyUs: 147 }, true],
    ['a sleep of 44 ms in the response', { freshUs: 45_900, keptUs: 45_300, bodyUs: 44_200 }, false],
  ])('distinguishes a delayed acknowledgement from other waits: %s', (_server, alone, isHeld) => {
    expect(isHeldBack(alone)).toBe(isHeld);
  });
});

describe('explainIdle', () => {
  it.each(CAUSES)('recognises %s', (_what, pace, aloneUs, cause) => {
    expect(explainIdle(windowOf(pace, aloneOf(aloneUs)))).toEqual(cause);
  });

  it('counts the requests that are open in an open loop, and not more of them than connections', () => {
    const window = windowOf(POOL, aloneOf(20_800));
    const explain = (meanOpen: number) =>
      explainIdle({ ...window, load: { ...window.load, schedule: { ...SCHEDULE, meanOpen } } });
    expect(explain(300)).toEqual({ atOnce: 5, aloneUs: 20_800 });
    expect(explain(6)).toBeUndefined();
  });

  it('compares with a response on a new connection if each request opens one', () => {
    const window = windowOf([94, 101_000], { freshUs: 100_000, keptUs: 50_000, bodyUs: 100 });
    const counts = { ok: 470 };
    const explain = (count: number) =>
      explainIdle({ ...window, load: { ...window.load, counts, opened: { count } } });
    expect(explain(470)).toBeUndefined();
    expect(explain(10)).toEqual({ atOnce: 5, aloneUs: 50_000 });
  });

  it('compares the means of a mix', () => {
    const window = windowOf([48, 2000], aloneOf(20_000));
    const mix = { ...window.load, latencyUs: { mean: 102_000, p50: 2000, max: 1 }, routes: [{}, {}] };
    expect(explainIdle({ ...window, load: mix })).toEqual({ atOnce: 1, aloneUs: 20_000 });
  });

  it.each([
    ['its responses were held back', windowOf([226, 44_000], HELD_BACK)],
    ['other processes took the CPU', windowOf(POOL, aloneOf(20_800), { limit: 'others' })],
    ['the load generator was busy', windowOf(POOL, aloneOf(20_800), { utilisation: 0.7 })],
    ['its responses are computed', { ...windowOf([5, 20_000], aloneOf(20_000)), cpuUsPerRequest: 19_000 }],
    ['its responses are large', windowOf([96, 97_000], { freshUs: 22_000, keptUs: 20_000, bodyUs: 18_000 })],
    ['a request waits as long without others', windowOf([390, 25_000, 38_000], aloneOf(26_000))],
    ['it was slower without a load', windowOf(POOL, aloneOf(90_000))],
    ['it was not asked without a load', { ...windowOf(POOL, aloneOf(20_800)), alone: undefined }],
  ])('explains nothing if %s', (_what, window) => {
    expect(explainIdle(window)).toBeUndefined();
  });
});

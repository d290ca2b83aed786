import { describe, expect, it } from 'vitest';
import { isWarm, leastWarmup, sliceOf, stillCompiling, type WarmSlice } from '../../src/judge/warm.ts';
import type { LiveRuntime } from 'bench-model/runtimes';

/** A second of load on one core: the CPU of compilers in hundredths of a second, and of a request in µs. */
function seconds(compilers: readonly number[], costUs: (second: number) => number = () => 50): WarmSlice[] {
  return compilers.flatMap((hundredths, second) =>
    Array.from({ length: 8 }, (_, part) => {
      const compilersUs = (hundredths * 10_000) / 8;
      const cpuUs = 125_000;
      // A level has no ties.
      const noise = 1 + 0.002 * Math.sin(97 * (second + part / 8));
      return {
        seconds: 0.125,
        answers: Math.max(1, (cpuUs - compilersUs) / costUs(second) / noise),
        cpuUs: cpuUs * noise,
        restUs: 0,
        compilersUs,
      };
    }),
  );
}

/** Returns the second from which on a server of this runtime is warm. */
function warmAfter(slices: readonly WarmSlice[], runtime: LiveRuntime, hasShortDelays = true): number {
  const least = leastWarmup({ runtime, hasShortDelays });
  for (let count = 1; count <= slices.length; count++) {
    const seen = slices.slice(0, count);
    if (count * 0.125 >= least && isWarm(seen, runtime)) return count * 0.125;
  }
  return Infinity;
}

// Recorded in hundredths of a second of CPU for each second of load.
const DOTNET_LATE = [0, 0, 0, 0, 1, 0, 11, 5, 0, 6, 0, 0, 2, 11, 27, 0, 12, 11, 23, 0, 0, 0, 0, 0];
const DOTNET_EARLY = [4, 26, 27, 42, 15, 0, 0, 1, 0, 0, 0, 0];
const JVM_PINNED = [
  26, 27, 31, 17, 16, 19, 18, 20, 21, 22, 21, 21, 23, 23, 23, 23, 21, 24, 23, 23, 21, 18, 0, 0, 0, 0,
];
const JVM_ON_TWO = [55, 71, 71, 79, 61, 7, 0, 3, 0, 1, 0, 0];
const NODE = [16, 21, 2, 1, 0, 0, 0, 0, 0, 0, 1, 0];

describe('a server with compilers in their own threads', () => {
  it.each([
    ['.NET as it comes, in spite of gaps of four seconds', 'dotnet', DOTNET_LATE, false, 22],
    ['.NET with the delays of several cores', 'dotnet', DOTNET_EARLY, true, 8],
    ['a JVM on one core', 'jvm', JVM_PINNED, true, 25],
    ['a JVM on two cores', 'jvm', JVM_ON_TWO, true, 9],
  ] as const)('is warm when they have rested: %s', (_, runtime, course, hasShortDelays, expected) => {
    const found = warmAfter(seconds(course), runtime, hasShortDelays);
    expect(found).toBeGreaterThan(expected - 1);
    expect(found).toBeLessThanOrEqual(expected + 0.5);
  });

  it('is not warm while its cost still changes, however quiet they are', () => {
    const falling = seconds(
      Array.from({ length: 12 }, () => 0),
      (second) => 100 - 8 * Math.min(second, 8),
    );
    expect(warmAfter(falling, 'jvm')).toBeGreaterThan(8);
    expect(warmAfter(falling, 'jvm')).toBeLessThan(12);
  });

  it('has a share that can be named while they do not rest', () => {
    const busy = seconds(Array.from({ length: 40 }, () => 12));
    expect(warmAfter(busy, 'jvm')).toBe(Infinity);
    expect(stillCompiling(busy, 'jvm')).toBeCloseTo(0.12);
    expect(stillCompiling(seconds(JVM_PINNED), 'jvm')).toBeUndefined();
  });
});

describe('V8, whose workers also collect', () => {
  it('is warm when they are at their level', () => {
    expect(warmAfter(seconds(NODE), 'v8')).toBeLessThanOrEqual(4);
    const collecting = seconds([40, 40, ...Array.from({ length: 8 }, () => 9)]);
    expect(warmAfter(collecting, 'v8')).toBeLessThanOrEqual(4);
    expect(stillCompiling(collecting, 'v8')).toBeUndefined();
  });

  it('is not warm while they still come down', () => {
    const slices = seconds([40, 30, 20, 14, 9, 5, 1, 1, 1]);
    expect(warmAfter(slices, 'v8')).toBeGreaterThan(4);
  });
});

/** Slices of a server without such threads, by the CPU of a request in µs. */
function level(count: number, length: number, cost: (index: number) => number): WarmSlice[] {
  return Array.from({ length: count }, (_, index) => ({
    seconds: length,
    answers: 1000,
    cpuUs: 1000 * cost(index) * (1 + 0.002 * Math.sin(97 * index)),
    restUs: 0,
    compilersUs: undefined,
  }));
}

describe('a server without them', () => {
  it.each([
    ['native', 0.5],
    ['python', 1],
  ] as const)('needs only its shortest time if it is level: %s', (runtime, least) => {
    expect(leastWarmup({ runtime, hasShortDelays: true })).toBe(least);
    const flat = level(16, sliceOf(least), () => 20);
    expect(flat).toHaveLength(Math.round(least / sliceOf(least)));
    expect(isWarm(flat, runtime)).toBe(true);
    expect(
      isWarm(
        level(16, sliceOf(least), (index) => 40 - index),
        runtime,
      ),
    ).toBe(false);
  });

  it('needs two seconds if its process is not known, and twenty if it is a .NET with long delays', () => {
    expect(leastWarmup({ runtime: undefined, hasShortDelays: false })).toBe(2);
    expect(leastWarmup({ runtime: 'dotnet', hasShortDelays: false })).toBe(20);
  });
});

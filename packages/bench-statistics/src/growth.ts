/**
 * The growth of a server's memory for each answer that it gives. Pure.
 *
 * A leak grows with the answers, not with time: it may slow the server. Memory that a collector frees returns to a floor,
 * and a cache that fills levels off, so the growth is that of the floors in the second half of the readings. It is the
 * median of the slopes between all pairs of floors (Theil 1950, Sen 1968), with the interval of Kendall's test (Hollander &
 * Wolfe, Nonparametric Statistical Methods, 9.3), which knows no distribution.
 */
import type { Resources } from 'bench-model/figures';
import type { LoadResult } from 'bench-model/load';
import type { Turns } from 'bench-model/measured';
import { median, sum } from './numbers.ts';
import type { Interval } from 'bench-model/interval';

/** The floors of the second half, and the slopes that each end of the interval leaves out: 95 % of Kendall's null distribution lie within. */
const FLOORS = 10;
const LEFT_OUT = 11;
/** Allocators take memory in steps of up to this many bytes. A window may contain one by chance. */
const STEP_BYTES = 2 ** 20;
/** Memory grows if it gains at least this share over the answers of the window. */
const LEAST_SHARE = 0.05;

/** The memory of a server after a number of right answers. */
export interface Level {
  answers: number;
  bytes: number;
}

/** The growth of memory, in bytes per answer. */
export interface Growth {
  estimate: number;
  /** The 95 % confidence interval. */
  interval: Interval;
  /** True if the interval lies above 0, and the gain over the window is at least 5 % of its first level. */
  isKept: boolean;
}

/** The parts of a trial that tell its memory. */
export interface Watched {
  load: LoadResult;
  server?: Resources | undefined;
  turns?: Turns | undefined;
}

/**
 * Returns the levels of memory by the answers in the window, in order; empty if they are not known. With turns, each level
 * is that after a turn.
 */
export function memoryByAnswers({ load, server, turns }: Watched): Level[] {
  if (turns !== undefined) {
    let answers = 0;
    return (turns.memoryBytes ?? []).map((bytes, turn) => ({
      answers: (answers += turns.answers[turn] ?? 0),
      bytes,
    }));
  }
  const { slices } = load;
  if (slices === undefined) return [];
  const answersAt = countedUpTo(slices);
  return (server?.memoryOverTime ?? []).map(({ seconds, bytes }) => ({ answers: answersAt(seconds), bytes }));
}

/** Returns a function that gives the answers in the first seconds of a window; they are even within a slice. */
function countedUpTo({
  milliseconds,
  ok,
}: {
  milliseconds: number;
  ok: readonly number[];
}): (seconds: number) => number {
  const before = [0];
  for (const count of ok) before.push((before.at(-1) ?? 0) + count);
  const whole = sum(ok);
  return (seconds) => {
    const place = (seconds * 1000) / milliseconds;
    const slice = Math.floor(place);
    return slice >= ok.length ? whole : (before[slice] ?? 0) + (ok[slice] ?? 0) * (place - slice);
  };
}

/** Estimates the growth; undefined with too few levels or answers. */
export function growthOf(levels: readonly Level[]): Growth | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const later = levels.slice(levels.length >> 1);
  const given = last.answers - first.answers;
  if (later.length < FLOORS || given <= 0) return undefined;
  const floors = Array.from({ length: FLOORS }, (_, floor) => {
    const part = later.slice((floor * later.length) / FLOORS, ((floor + 1) * later.length) / FLOORS);
    return part.reduce((least, level) => (level.bytes < least.bytes ? level : least));
  });
  const slopes = floors
    .flatMap((one, index) =>
      floors
        .slice(index + 1)
        .map((other) => (other.bytes - one.bytes) / Math.max(1, other.answers - one.answers)),
    )
    .toSorted((a, b) => a - b);
  const step = STEP_BYTES / Math.max(1, last.answers - (later[0]?.answers ?? 0));
  const interval = {
    low: (slopes[LEFT_OUT] ?? 0) - step,
    high: (slopes[slopes.length - 1 - LEFT_OUT] ?? 0) + step,
  };
  return {
    estimate: median(slopes),
    interval,
    isKept: interval.low > 0 && interval.low * given >= LEAST_SHARE * first.bytes,
  };
}

/**
 * Returns the memory that a server gained for each answer, in bytes: its growth, or, with too few levels for that, the
 * difference of the last level and the first, which has garbage in it.
 */
export function gainPerAnswer(levels: readonly Level[]): number | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === undefined || last === undefined || last.answers <= first.answers) return undefined;
  return growthOf(levels)?.estimate ?? (last.bytes - first.bytes) / (last.answers - first.answers);
}

/**
 * Returns the peaks of two servers over an equal number of answers, in bytes: one that grows and is faster would otherwise
 * have more. Undefined if the levels of one are not known.
 */
export function peaksAtEqualAnswers(
  one: readonly Level[],
  other: readonly Level[],
): [number, number] | undefined {
  const most = Math.min(...[one, other].map((levels) => levels.at(-1)?.answers ?? 0));
  if (most <= 0) return undefined;
  const peak = (levels: readonly Level[]): number =>
    Math.max(...levels.filter(({ answers }) => answers <= most).map(({ bytes }) => bytes));
  const peaks: [number, number] = [peak(one), peak(other)];
  return peaks.every(Number.isFinite) ? peaks : undefined;
}

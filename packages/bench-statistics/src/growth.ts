/**
 * The growth of a server's memory for each response that it gives. Pure.
 *
 * A leak grows with the responses, not with time: it may slow the server. Memory that a collector frees returns to a floor,
 * and a cache that fills levels off, so the growth is that of the floors in the second half of the readings, each over at least one
 * period of the collector. It is the median of the slopes between all pairs of floors (Theil 1950, Sen 1968). Its interval
 * is Student's, of the steps from floor to floor beside that growth: it also holds if memory is a random walk, whose levels
 * are not independent, and is too wide if they are.
 */
import type { Resources } from 'bench-model/figures';
import type { LoadResult } from 'bench-model/load';
import type { Turns } from 'bench-model/measured';
import { clamp, median, sum } from './numbers.ts';
import { studentMargin } from './student.ts';
import type { Interval } from 'bench-model/interval';

/** The floors of the second half. With fewer, the collector has had too few periods in it. */
const FLOORS = { most: 10, fewest: 5 };
/** Allocators take memory in steps of up to this many bytes. A window may contain one by chance. */
const STEP_BYTES = 2 ** 20;
/** Memory grows if it gains at least this share over the responses of the window; a fall by as much is the work of a collector. */
const LEAST_SHARE = 0.05;
/** Memory that never fell must gain more: the heap of a young process grows, too, until its collector has had a period. */
const LEAST_UNFALLEN = 0.25;
/** It levels off if the second half of the responses gains less than this part of what the first half did. */
const LASTING = 0.7;

/** The memory of a server after a number of correct responses. */
export interface Level {
  answers: number;
  bytes: number;
}

/** The growth of memory, in bytes per response. */
export interface Growth {
  estimate: number;
  /** The 95 % confidence interval. */
  interval: Interval;
  /**
   * True if the interval lies above 0, and the gain over the window is at least 5 % of its first level; of memory that never fell,
   * at least 25 %, and it does not level off.
   */
  isKept: boolean;
  /** The responses in which memory never fell by as much; absent if it did. A collector with a longer period looks like a leak. */
  withoutFall?: number;
}

/** The parts of a trial that tell its memory. */
export interface Watched {
  load: LoadResult;
  server?: Resources | undefined;
  turns?: Turns | undefined;
}

/**
 * Returns the levels of memory by the responses in the window, in order; empty if they are not known. With turns, each level
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
  const { milliseconds, ok } = slices;
  // The responses are even within a slice.
  const answersAt = (seconds: number): number =>
    sum(ok.map((count, slice) => count * clamp((seconds * 1000) / milliseconds - slice, 0, 1)));
  return (server?.memoryOverTime ?? []).map(({ seconds, bytes }) => ({ answers: answersAt(seconds), bytes }));
}

/** Estimates the growth; undefined with too few levels or answers. It is not kept if a collector has had too few periods. */
export function growthOf(levels: readonly Level[]): Growth | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const later = levels.slice(levels.length >> 1);
  const given = last.answers - first.answers;
  const period = longestPeriod(levels, Math.max(STEP_BYTES, LEAST_SHARE * first.bytes));
  if (later.length < FLOORS.most || given <= 0) return undefined;
  const periods = Math.floor(later.length / (period ?? 1));
  const parts = periods < FLOORS.fewest ? FLOORS.most : Math.min(FLOORS.most, periods);
  const floors = Array.from({ length: parts }, (_, floor) => {
    const part = later.slice((floor * later.length) / parts, ((floor + 1) * later.length) / parts);
    return part.reduce((least, level) => (level.bytes < least.bytes ? level : least));
  });
  const slopes = floors.flatMap((one, index) =>
    floors
      .slice(index + 1)
      .map((other) => (other.bytes - one.bytes) / Math.max(1, other.answers - one.answers)),
  );
  const estimate = median(slopes);
  // A server answers more in one step than in the next if the machine is busy: what is left is beside its growth.
  const steps = floors.slice(1).map(({ bytes, answers }, index) => {
    const before = floors[index]!;
    return bytes - before.bytes - estimate * (answers - before.answers);
  });
  const perStep = Math.max(1, last.answers - (later[0]?.answers ?? 0)) / parts;
  // A reading can be early or late for the floor of a period.
  const rises = later.slice(1).map(({ bytes }, index) => bytes - later[index]!.bytes);
  const missed = period === undefined ? 0 : median([0, ...rises.filter((rise) => rise > 0)]);
  const margin = (studentMargin(steps) + Math.max(STEP_BYTES, missed) / parts) / perStep;
  const interval = { low: estimate - margin, high: estimate + margin };
  const [{ answers, bytes } = first] = later;
  const isUnfallen = estimate * given >= LEAST_UNFALLEN * first.bytes;
  const isLasting = estimate * (answers - first.answers) >= LASTING * (bytes - first.bytes);
  return {
    estimate,
    interval,
    isKept:
      (period === undefined ? isUnfallen && isLasting : periods >= FLOORS.fewest) &&
      interval.low > 0 &&
      interval.low * given >= LEAST_SHARE * first.bytes,
    ...(period === undefined && { withoutFall: Math.round(given) }),
  };
}

/** Returns the most levels from one low to the next, if memory falls by at least this many bytes; undefined if it never does. */
function longestPeriod(levels: readonly Level[], least: number): number | undefined {
  const lows = [0];
  let isFalling = false;
  let [high, low] = [0, Infinity];
  for (const [index, { bytes }] of levels.entries()) {
    if (isFalling && bytes >= low + least) [isFalling, high] = [false, bytes];
    if (!isFalling) high = Math.max(high, bytes);
    if (isFalling ? bytes >= low : bytes > high - least) continue;
    lows.splice(isFalling ? -1 : lows.length, 1, index);
    [isFalling, low] = [true, bytes];
  }
  if (lows.length === 1 || (lows.length === 2 && isOutgrown(levels, lows[1] ?? 0))) return undefined;
  const ends = [...lows.slice(1), levels.length - 1];
  return Math.max(...ends.map((end, index) => end - (lows[index] ?? 0)));
}

/** True if memory has risen above its level before a fall by more than that fall: a collector returns to the same height. */
function isOutgrown(levels: readonly Level[], low: number): boolean {
  const bytes = levels.map((level) => level.bytes);
  const high = Math.max(...bytes.slice(0, low));
  return Math.max(...bytes.slice(low)) > 2 * high - (bytes[low] ?? 0);
}

/**
 * Returns the memory that a server gained for each response, in bytes: its growth, or, with too few levels for that, the
 * difference of the last level and the first, which has garbage in it.
 */
export function gainPerAnswer(levels: readonly Level[]): number | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === undefined || last === undefined || last.answers <= first.answers) return undefined;
  return growthOf(levels)?.estimate ?? (last.bytes - first.bytes) / (last.answers - first.answers);
}

/**
 * Returns the peaks of two servers over an equal number of responses, in bytes: one that grows and is faster would otherwise
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

/** The course of goodput and memory within one window. */
import type { MemoryReading } from 'bench-model/figures';
import { sum } from 'bench-statistics/numbers';
import type { LoadResult } from 'bench-model/load';

/** More points than this say no more in a chart. */
const MOST_POINTS = 25;

/** A value at a moment of the window. */
export interface Moment {
  /** Since the window opened. */
  seconds: number;
  value: number;
}

/** Returns the goodput per second in spans of equal length, each at its end; a shorter last span is omitted. Empty without slices. */
export function goodputOverTime({ slices }: LoadResult): Moment[] {
  if (slices === undefined) return [];
  const { ok, milliseconds } = slices;
  const size = Math.ceil(ok.length / MOST_POINTS);
  const seconds = (size * milliseconds) / 1000;
  return Array.from({ length: Math.floor(ok.length / Math.max(1, size)) }, (_, index) => ({
    seconds: (index + 1) * seconds,
    value: sum(ok.slice(index * size, (index + 1) * size)) / seconds,
  }));
}

/** Returns the memory in bytes at evenly chosen moments, the first and the last reading included. */
export function memoryOverTime(readings: readonly MemoryReading[]): Moment[] {
  const step = Math.max(1, (readings.length - 1) / (MOST_POINTS - 1));
  const count = Math.min(readings.length, MOST_POINTS);
  const chosen = Array.from({ length: count }, (_, index) => readings[Math.round(index * step)]!);
  return chosen.map(({ seconds, bytes }) => ({ seconds, value: bytes }));
}

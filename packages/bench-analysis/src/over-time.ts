/** The course of goodput, latency, CPU and memory within one window. */
import type { MemoryReading } from 'bench-model/figures';
import { addBuckets, bucketPercentile, bucketTotal } from 'bench-statistics/buckets';
import { clamp, sum } from 'bench-statistics/numbers';
import type { LoadResult } from 'bench-model/load';

/** More points than this say no more in a chart. */
const MOST_POINTS = 25;
/** The same for latency, which changes quickly. */
const MOST_SPANS = 60;

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

/**
 * Returns a percentile of the latency in µs over the window, each value at the end of its span. Spans are joined until they have enough
 * answers on average. Empty without spans.
 */
export function latencyOverTime({ spans }: LoadResult, share: number): Moment[] {
  if (spans === undefined) return [];
  const { latencies, milliseconds } = spans;
  const answers = sum(latencies.map(bucketTotal));
  const supported = Math.floor(answers / (share > 0.95 ? 11 / (1 - share) : 1));
  const size = Math.ceil(latencies.length / clamp(supported, 1, MOST_SPANS));
  return Array.from({ length: Math.floor(latencies.length / Math.max(1, size)) }, (_, index) => ({
    seconds: ((index + 1) * size * milliseconds) / 1000,
    value: bucketPercentile(addBuckets(latencies.slice(index * size, (index + 1) * size)), share),
  })).flatMap(({ seconds, value }) => (value === undefined ? [] : [{ seconds, value }]));
}

/** Returns the CPU in µs for each right answer between readings of the memory. Empty if CPU was not read with it. */
export function cpuOverTime(readings: readonly MemoryReading[], { slices }: LoadResult): Moment[] {
  if (slices === undefined) return [];
  const { ok, milliseconds } = slices;
  const before: number[] = [0];
  for (const count of ok) before.push((before.at(-1) as number) + count);
  const answersUntil = (seconds: number): number => {
    const at = Math.min(ok.length, (1000 * seconds) / milliseconds);
    const whole = Math.floor(at);
    return (before[whole] ?? 0) + (at - whole) * (ok[whole] ?? 0);
  };
  const chosen = chooseReadings(readings);
  return chosen.slice(1).flatMap((reading, index) => {
    const earlier = chosen[index];
    if (reading.cpuUs === undefined || earlier?.cpuUs === undefined) return [];
    const answers = answersUntil(reading.seconds) - answersUntil(earlier.seconds);
    return answers < 1
      ? []
      : [{ seconds: reading.seconds, value: (reading.cpuUs - earlier.cpuUs) / answers }];
  });
}

/** Returns the memory in bytes at evenly chosen moments, the first and the last reading included. */
export function memoryOverTime(readings: readonly MemoryReading[]): Moment[] {
  return chooseReadings(readings).map(({ seconds, bytes }) => ({ seconds, value: bytes }));
}

function chooseReadings(readings: readonly MemoryReading[]): MemoryReading[] {
  const step = Math.max(1, (readings.length - 1) / (MOST_POINTS - 1));
  const count = Math.min(readings.length, MOST_POINTS);
  return Array.from({ length: count }, (_, index) => readings[Math.round(index * step)]).flatMap(
    (reading) => reading ?? [],
  );
}

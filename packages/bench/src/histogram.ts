import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import type { LatencyUs } from './model.ts';

/** A day: no generator loads for longer, so no latency is cut short. */
const HIGHEST_US = 86_400_000_000;

/** An empty histogram of µs: 1 µs to a day at three significant digits, sized once and for all. */
export function createHistogram(): Histogram {
  return build({
    bitBucketSize: 64,
    autoResize: false,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
  });
}

/** Records one latency given in ms, as autocannon times it. */
export function recordMilliseconds(histogram: Histogram, milliseconds: number): void {
  histogram.recordValue(Math.min(HIGHEST_US, Math.max(1, Math.round(milliseconds * 1000))));
}

/** The histogram as compressed V2 base64, as the record keeps it. */
export function encodeHistogram(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

/** One histogram holding every value of the encoded ones. Throws on text that is no histogram. */
export function mergeHistograms(encoded: string[]): Histogram {
  const sum = createHistogram();
  for (const text of encoded) sum.add(decodeFromCompressedBase64(text, 64, false));
  return sum;
}

/** How many answers must lie beyond a percentile before it is given. */
const TAIL_SUPPORT = 10;

/** In thousandths, so that what lies beyond one is a whole number of answers and not 9.999999999999998. */
const PERCENTILES = [
  ['p50', 500],
  ['p75', 750],
  ['p90', 900],
  ['p97_5', 975],
  ['p99', 990],
  ['p99_9', 999],
] as const;

/**
 * Percentiles in µs of the answered requests with the timed-out ones counted above all of them: a
 * percentile that falls among those is a lower bound at the timeout and named in `atLeast`. One with
 * fewer than ten answers beyond it is left out. Undefined when nothing was answered.
 */
export function summariseLatency(
  histogram: Histogram,
  timeouts: number,
  timeoutSeconds: number,
): LatencyUs | undefined {
  const answered = histogram.totalCount;
  const all = answered + timeouts;
  return summarise(
    {
      answered,
      mean: histogram.mean,
      max: histogram.maxValue,
      at: (_name, thousandths) => histogram.getValueAtPercentile((thousandths * all) / (10 * answered)),
    },
    timeouts,
    timeoutSeconds,
  );
}

export type PercentileName = (typeof PERCENTILES)[number][0];

/** What is known of the latencies of answers, in µs; `at` gives undefined for a percentile that is not. */
export interface LatencySample {
  answered: number;
  mean: number;
  max: number;
  at(name: PercentileName, thousandths: number): number | undefined;
}

/** The same from any sample. */
export function summarise(
  sample: LatencySample,
  timeouts: number,
  timeoutSeconds: number,
): LatencyUs | undefined {
  const { answered, mean, max } = sample;
  if (answered === 0) return undefined;
  const all = answered + timeouts;
  const latency: LatencyUs = { mean, max };
  for (const [name, thousandths] of PERCENTILES) {
    const value = sample.at(name, thousandths);
    if (value === undefined || all * (1000 - thousandths) < TAIL_SUPPORT * 1000) continue;
    if (thousandths * all <= 1000 * answered) {
      latency[name] = value;
    } else {
      latency[name] = timeoutSeconds * 1e6;
      latency.atLeast = [...(latency.atLeast ?? []), name];
    }
  }
  return latency;
}

import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import type { LatencyUs } from './model.ts';
import { clamp } from './numbers.ts';

/** One day: no generator runs for longer, so no latency is truncated. */
const HIGHEST_US = 86_400_000_000;

/** Creates an empty histogram of 1 µs to one day with three significant digits, of fixed size. */
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
  histogram.recordValue(clamp(Math.round(milliseconds * 1000), 1, HIGHEST_US));
}

/** Encodes a histogram as compressed V2 base64 for the record. */
export function encodeHistogram(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

/** Merges encoded histograms into one. Throws if a text is not a histogram. */
export function mergeHistograms(encoded: string[]): Histogram {
  const sum = createHistogram();
  for (const text of encoded) sum.add(decodeFromCompressedBase64(text, 64, false));
  return sum;
}

/** The answers that must lie beyond a percentile for it to be reported. */
const TAIL_SUPPORT = 10;

/** In thousandths, so that the answers beyond a percentile are a whole number and not 9.999999999999998. */
const PERCENTILES = [
  ['p50', 500],
  ['p75', 750],
  ['p90', 900],
  ['p97_5', 975],
  ['p99', 990],
  ['p99_9', 999],
] as const;

/**
 * Computes percentiles in µs over the answered requests; timeouts count as slower than all answers. A percentile among
 * the timeouts is a lower bound at the timeout and is named in `atLeast`. Percentiles with fewer than ten answers beyond
 * them are omitted. Undefined if nothing was answered.
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

/** The latencies of answers, in µs; `at` returns undefined for an unknown percentile. */
export interface LatencySample {
  answered: number;
  mean: number;
  max: number;
  at(name: PercentileName, thousandths: number): number | undefined;
}

/** Computes the percentiles of any sample, as `summariseLatency` does. */
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

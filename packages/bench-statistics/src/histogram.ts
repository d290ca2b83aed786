// The index of the package also loads WebAssembly and log files, which take longer than everything else here.
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { constructorFromBucketSize } from 'hdr-histogram-js/dist/JsHistogramFactory.js';
import type { Histogram, JsHistogram } from 'hdr-histogram-js';
import { UsageError } from 'bench-model/errors';
import type { LatencyUs } from 'bench-model/figures';
import { requireWithout } from 'bench-model/modules';
import { clamp, sum } from './numbers.ts';

/** It compresses by node:zlib; pako is for browsers. */
const { doDecode } = requireWithout(
  createRequire(import.meta.url),
  'hdr-histogram-js/dist/JsHistogram.encoding.js',
  { pako: {} },
) as typeof import('hdr-histogram-js/dist/JsHistogram.encoding.js');

/** One day: no generator runs for longer, so no latency is truncated. */
const HIGHEST_US = 86_400_000_000;
const DIGITS = 3;
const BUCKET_BITS = 64;
const Float64Histogram = constructorFromBucketSize(BUCKET_BITS);

/** Creates an empty histogram of 1 µs to one day with three significant digits, of fixed size. */
export function createHistogram(): JsHistogram {
  return new Float64Histogram(1, HIGHEST_US, DIGITS);
}

/** Records one latency given in ms, as autocannon times it. */
export function recordMilliseconds(histogram: Histogram, milliseconds: number): void {
  histogram.recordValue(clamp(Math.round(milliseconds * 1000), 1, HIGHEST_US));
}

/** Latencies below this many µs are counted one by one first. */
const DIRECT_US = 131_072;

/**
 * Collects latencies for a histogram. The histogram computes logarithms for each value, so usual latencies are counted by
 * their µs, and each count is moved when the histogram is read.
 */
export class Latencies {
  readonly #histogram = createHistogram();
  readonly #direct = new Uint32Array(DIRECT_US);

  /** Records one latency given in ms. */
  record(milliseconds: number): void {
    const us = Math.round(milliseconds * 1000);
    if (us < 1 || us >= DIRECT_US) {
      recordMilliseconds(this.#histogram, milliseconds);
      return;
    }
    this.#direct[us] = (this.#direct[us] as number) + 1;
  }

  /** The histogram of all latencies so far. */
  get histogram(): JsHistogram {
    // An iterator would take 10 ms in a process that has just begun.
    for (let us = 1; us < DIRECT_US; us++) {
      const count = this.#direct[us] as number;
      if (count > 0) this.#histogram.recordValueWithCount(us, count);
    }
    this.#direct.fill(0);
    return this.#histogram;
  }
}

/** Encodes a histogram as compressed V2 base64 for the record. */
export function encodeHistogram(histogram: JsHistogram): string {
  return histogram.encodeIntoCompressedBase64();
}

/** The bytes before the compressed part: a mark and its length. The decompressed part has its digits at this place. */
const HEAD_BYTES = 8;
const DIGITS_AT = 12;
/** More than a histogram of `createHistogram` can have: a received record must not fill the memory. */
const MOST_BYTES = 2 ** 20;

/** Decodes a histogram. Throws what the decoder throws, and a RangeError for one of more digits than `createHistogram` has. */
function decode(text: string): JsHistogram {
  const bytes = inflateSync(Buffer.from(text, 'base64').subarray(HEAD_BYTES), {
    maxOutputLength: MOST_BYTES,
  });
  const digits = bytes.readInt32BE(DIGITS_AT);
  if (digits > DIGITS) throw new RangeError(`it has ${digits} significant digits`);
  // The reader reverses the bytes of a Buffer in place.
  return doDecode(new Uint8Array(bytes), BUCKET_BITS);
}

/** Merges encoded histograms into one. Throws a usage error for a text that is no histogram, as in a damaged record. */
export function mergeHistograms(encoded: readonly string[]): JsHistogram {
  const merged = createHistogram();
  for (const text of encoded) {
    try {
      merged.add(decode(text));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(
        `a latency histogram cannot be read: ${why}`,
        'delete the damaged line in trials.jsonl to lose only that trial',
      );
    }
  }
  return merged;
}

/** The responses that must lie beyond a percentile for it to be reported. */
export const TAIL_SUPPORT = 10;

/** In thousandths, so that the responses beyond a percentile are a whole number and not 9.999999999999998. */
const PERCENTILES = [
  ['p50', 500],
  ['p75', 750],
  ['p90', 900],
  ['p97_5', 975],
  ['p99', 990],
  ['p99_9', 999],
] as const;

/** Returns the fewest answers that support a percentile of this name, such as `p99.9`; undefined if the name is not one. */
export function answersFor(name: string): number | undefined {
  const [, thousandths] = PERCENTILES.find(([one]) => one === name.replace('.', '_')) ?? [];
  return thousandths === undefined ? undefined : (TAIL_SUPPORT * 1000) / (1000 - thousandths);
}

/** Requests without a response: their latency is at least this many µs. */
export interface Wait {
  us: number;
  count: number;
}

/** Returns the timeouts of a load as waits; none if there were none. */
export function timeoutsOf(count: number, timeoutSeconds: number): Wait[] {
  return count > 0 ? [{ us: timeoutSeconds * 1e6, count }] : [];
}

/**
 * Returns the censored requests as waits, the shortest first: those of these ages, in µs, that are older than the slowest
 * response. A younger one says nothing that the responses do not.
 */
export function censoredBeyond(answers: JsHistogram, ages: JsHistogram): Wait[] {
  return countsOf(ages).filter(({ us }) => us > answers.maxValue);
}

/** Returns the number of values above this many µs. */
export function countAbove(histogram: JsHistogram, us: number): number {
  return sum(countsOf(histogram).flatMap((one) => (one.us > us ? [one.count] : [])));
}

/** Returns the sum of what the longest `most` values exceed this many µs by. */
export function sumLongest(histogram: JsHistogram, most: number, us: number): number {
  let left = most;
  let total = 0;
  for (const { us: value, count } of countsOf(histogram).toReversed()) {
    if (left <= 0 || value <= us) break;
    total += Math.min(left, count) * (value - us);
    left -= count;
  }
  return total;
}

/** Returns the values of a histogram in ascending order, each the lowest of its bucket. */
function countsOf(histogram: JsHistogram): Wait[] {
  const counts: Wait[] = [];
  let left = histogram.totalCount;
  for (let index = 0; left > 0 && index < histogram.countsArrayLength; index++) {
    const count = histogram.getCountAtIndex(index);
    if (count > 0) counts.push({ us: histogram.valueFromIndex(index), count });
    left -= count;
  }
  return counts;
}

/** Returns the histogram of these waits. */
export function histogramOf(waits: readonly Wait[]): JsHistogram {
  const histogram = createHistogram();
  for (const { us, count } of waits) histogram.recordValueWithCount(us, count);
  return histogram;
}

/**
 * Computes percentiles in µs over the responses and the requests without one, which count as slower than all responses. A
 * percentile among those is a lower bound, the length of its wait, and is named in `atLeast`. Percentiles with fewer
 * than ten requests beyond them are omitted. Undefined if nothing was answered.
 */
export function summariseLatency(histogram: JsHistogram, waits: readonly Wait[] = []): LatencyUs | undefined {
  const answered = histogram.totalCount;
  const all = answered + sum(waits.map(({ count }) => count));
  // Its own mean takes 10 ms in a process that has just begun.
  const total = sum(countsOf(histogram).map(({ us, count }) => count * histogram.medianEquivalentValue(us)));
  return summarise(
    {
      answered,
      mean: total / answered,
      max: histogram.maxValue,
      at: (_name, thousandths) => histogram.getValueAtPercentile((thousandths * all) / (10 * answered)),
    },
    waits,
  );
}

export type PercentileName = (typeof PERCENTILES)[number][0];

/** The latencies of responses, in µs; `at` returns undefined for an unknown percentile. */
export interface LatencySample {
  answered: number;
  mean: number;
  max: number;
  at(name: PercentileName, thousandths: number): number | undefined;
}

/** Computes the percentiles of any sample, as `summariseLatency` does. */
export function summarise(sample: LatencySample, waits: readonly Wait[]): LatencyUs | undefined {
  const { answered, mean, max } = sample;
  if (answered === 0) return undefined;
  const ascending = waits.toSorted((a, b) => a.us - b.us);
  const all = answered + sum(waits.map(({ count }) => count));
  const latency: LatencyUs = { mean, max };
  const bound = (name: PercentileName | 'max', us: number): void => {
    latency[name] = Math.max(max, us);
    latency.atLeast = [...(latency.atLeast ?? []), name];
  };
  for (const [name, thousandths] of PERCENTILES) {
    const value = sample.at(name, thousandths);
    if (value === undefined || all * (1000 - thousandths) < TAIL_SUPPORT * 1000) continue;
    if (thousandths * all <= 1000 * answered) latency[name] = value;
    else bound(name, waitAt(ascending, (thousandths * all) / 1000 - answered));
  }
  const longest = ascending.at(-1);
  if (longest !== undefined) bound('max', longest.us);
  return latency;
}

/** Returns the wait of this rank, from above 0 on, among waits in ascending order; the longest for a higher rank. */
function waitAt(waits: readonly Wait[], rank: number): number {
  let counted = 0;
  const reached = waits.find(({ count }) => (counted += count) >= rank);
  return (reached ?? waits.at(-1))?.us ?? 0;
}

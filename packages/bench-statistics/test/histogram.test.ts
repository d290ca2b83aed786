import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type JsHistogram,
} from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import {
  censoredBeyond,
  createHistogram,
  encodeHistogram,
  Latencies,
  mergeHistograms,
  recordMilliseconds,
  summariseLatency,
  timeoutsOf,
} from '../src/histogram.ts';
import type { LatencyUs } from 'bench-model/figures';
import { createRandom } from '../src/random.ts';

function histogramOf(us: readonly number[]): ReturnType<typeof createHistogram> {
  const histogram = createHistogram();
  for (const value of us) recordMilliseconds(histogram, value / 1000);
  return histogram;
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

const summarise = (us: readonly number[], timeouts = 0): LatencyUs | undefined =>
  summariseLatency(histogramOf(us), timeoutsOf(timeouts, 10));

describe('Latencies', () => {
  it('give the same histogram as values that are recorded one by one', () => {
    const random = createRandom(5);
    const us = Array.from({ length: 3000 }, () => random.below(2 ** (1 + random.below(20))));
    const latencies = new Latencies();
    for (const [index, value] of us.entries()) {
      latencies.record(value / 1000);
      // Reading it in between changes nothing.
      if (index % 1000 === 0) encodeHistogram(latencies.histogram);
    }
    expect(encodeHistogram(latencies.histogram)).toBe(encodeHistogram(histogramOf(us)));
    expect(encodeHistogram(latencies.histogram)).toBe(encodeHistogram(histogramOf(us)));
    expect(latencies.histogram.minNonZeroValue).toBe(histogramOf(us).minNonZeroValue);
    expect(latencies.histogram.maxValue).toBe(histogramOf(us).maxValue);
  });
});

describe('createHistogram', () => {
  it('records fractions of ms in µs, to three digits', () => {
    const histogram = histogramOf([143.4, 0.2, 1_234_567]);
    expect(histogram.minNonZeroValue).toBe(1);
    expect(histogram.getValueAtPercentile(50)).toBe(143);
    expect(Math.abs(histogram.maxValue / 1_234_567 - 1)).toBeLessThan(0.001);
  });

  it.each([119, 150, 3000, 80_000])('records a latency of %d s within 0.1 %%', (seconds) => {
    const histogram = histogramOf([seconds * 1e6]);
    expect(Math.abs(histogram.maxValue / (seconds * 1e6) - 1)).toBeLessThan(0.001);
    const merged = mergeHistograms([encodeHistogram(histogram), encodeHistogram(histogramOf([5]))]);
    expect(Math.abs(merged.maxValue / (seconds * 1e6) - 1)).toBeLessThan(0.001);
    expect(Math.abs(merged.mean / (seconds * 0.5e6) - 1)).toBeLessThan(0.001);
  });
});

describe('mergeHistograms', () => {
  it('keeps every value of each histogram', () => {
    const random = createRandom(5);
    const parts = [1, 2, 3].map(() => Array.from({ length: 3000 }, () => 1 + Math.exp(18 * random.float())));
    const merged = mergeHistograms(parts.map((part) => encodeHistogram(histogramOf(part))));
    expect(merged.totalCount).toBe(9000);
    expect(encodeHistogram(merged)).toBe(encodeHistogram(histogramOf(parts.flat())));
  });

  it('accepts a value far above all others', () => {
    const merged = mergeHistograms([[5], [3000e6], []].map((part) => encodeHistogram(histogramOf(part))));
    expect(merged.totalCount).toBe(2);
    expect(merged.maxValue).toBeGreaterThan(2990e6);
  });

  it('gives what the library gives, also for a histogram with other settings', () => {
    const random = createRandom(6);
    const encoded = [1, 2].map(() =>
      encodeHistogram(histogramOf(Array.from({ length: 500 }, () => 1 + Math.exp(12 * random.float())))),
    );
    const other = build({ highestTrackableValue: 5_000_000, numberOfSignificantValueDigits: 2 });
    for (const value of [3, 70, 4_000_000]) other.recordValueWithCount(value, 2 ** 33);
    const texts = [...encoded, encodeIntoCompressedBase64(other)];
    const expected = createHistogram();
    for (const text of texts) expected.add(decodeFromCompressedBase64(text, 64, false) as JsHistogram);
    const merged = mergeHistograms(texts);
    expect(encodeHistogram(merged)).toBe(encodeHistogram(expected));
    for (const name of ['totalCount', 'maxValue', 'mean'] as const) expect(merged[name]).toBe(expected[name]);
    for (const percentile of [0, 50, 99, 100])
      expect(merged.getValueAtPercentile(percentile)).toBe(expected.getValueAtPercentile(percentile));
  });

  it('rejects data that is not a histogram', () => {
    expect(() => mergeHistograms(['bm90IG9uZQ=='])).toThrow(/^a latency histogram cannot be read: /);
  });
});

describe('censoredBeyond', () => {
  it('returns the ages beyond the slowest response, shortest first', () => {
    const ages = histogramOf([50, 400, 100, 7000, 400]);
    expect(censoredBeyond(histogramOf([90, 100]), ages)).toEqual([
      { us: 400, count: 2 },
      { us: 7000, count: 1 },
    ]);
    expect(censoredBeyond(histogramOf([8000]), ages)).toEqual([]);
  });
});

describe('summariseLatency', () => {
  it('returns each percentile in µs', () => {
    const latency = summarise(upTo(100_000))!;
    const exact = {
      p50: 50_000,
      p75: 75_000,
      p90: 90_000,
      p97_5: 97_500,
      p99: 99_000,
      p99_9: 99_900,
      max: 100_000,
    };
    for (const [name, us] of Object.entries(exact)) {
      expect(Math.abs((latency[name as keyof typeof exact] ?? 0) / us - 1)).toBeLessThan(0.0011);
    }
    expect(Math.abs(latency.mean / 50_000.5 - 1)).toBeLessThan(0.001);
    expect(latency).not.toHaveProperty('atLeast');
  });

  it.each([
    ['p50', 20],
    ['p75', 40],
    ['p90', 100],
    ['p97_5', 400],
    ['p99', 1000],
    ['p99_9', 10_000],
  ])('returns %s only from %d answers on, so that ten are beyond it', (name, answers) => {
    expect(summarise(upTo(answers))).toHaveProperty(name);
    expect(summarise(upTo(answers - 1))).not.toHaveProperty(name);
  });

  it('returns nothing without responses, and no percentile of too few responses', () => {
    expect(summarise([])).toBeUndefined();
    expect(summarise([], 100)).toBeUndefined();
    expect(Object.keys(summarise([7])!).toSorted()).toEqual(['max', 'mean']);
  });

  it('counts timeouts above all responses, as lower bounds', () => {
    const latency = summarise(upTo(9700), 300)!;
    expect(latency.atLeast).toEqual(['p97_5', 'p99', 'p99_9', 'max']);
    expect(latency.max).toBe(10e6);
    for (const name of ['p97_5', 'p99', 'p99_9'] as const) expect(latency[name]).toBe(10e6);
    // The 50th percentile of 10,000 requests is the 5,000th answer.
    expect(Math.abs(latency.p50! / 5000 - 1)).toBeLessThan(0.001);
    expect(Math.abs(latency.p90! / 9000 - 1)).toBeLessThan(0.001);
  });

  it('counts requests that are older than every response, at their age', () => {
    const waits = [
      { us: 20_000, count: 1000 },
      { us: 3e6, count: 1000 },
    ];
    const latency = summariseLatency(histogramOf(upTo(8000)), waits)!;
    expect(latency.atLeast).toEqual(['p90', 'p97_5', 'p99', 'p99_9', 'max']);
    expect(latency).toMatchObject({ p90: 20_000, p97_5: 3e6, p99: 3e6, p99_9: 3e6, max: 3e6 });
    // The 75th percentile of 10,000 requests is the 7,500th answer.
    expect(Math.abs(latency.p75! / 7500 - 1)).toBeLessThan(0.001);
    // A timeout can be shorter than the age of a request that waited for a connection.
    const both = summariseLatency(histogramOf(upTo(8000)), [...waits, ...timeoutsOf(1000, 1)])!;
    expect(both).toMatchObject({ p90: 1e6, p97_5: 3e6, max: 3e6 });
  });

  it('does not mark a percentile as a lower bound if timeouts begin just above it', () => {
    for (const [answered, timeouts, name] of [
      [990, 10, 'p99'],
      [9990, 10, 'p99_9'],
      [390, 10, 'p97_5'],
      [90, 10, 'p90'],
    ] as const) {
      const latency = summarise(upTo(answered), timeouts)!;
      const slowest = summarise(upTo(answered))!.max;
      expect(latency.atLeast ?? []).not.toContain(name);
      expect(Math.abs(latency[name]! / slowest - 1)).toBeLessThan(0.001);
      expect(summarise(upTo(answered - 1), timeouts + 1)!.atLeast).toContain(name);
    }
  });
});

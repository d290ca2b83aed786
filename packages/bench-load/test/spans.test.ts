import { describe, expect, it } from 'vitest';
import { bucketPercentile } from 'bench-statistics/buckets';
import { mergeSpans, SpanCounts } from '../src/spans.ts';

describe('the spans of a window', () => {
  it('hold latencies within 5 %, each in its span', () => {
    const spans = new SpanCounts(250);
    for (let count = 0; count < 100; count++) spans.record(count, 8);
    spans.record(760, 800);
    const { latencies } = spans.report;
    expect(bucketPercentile(latencies[0] ?? [], 0.5)).toBeCloseTo(8000, -3);
    expect(latencies).toHaveLength(4);
    expect(latencies.map((pairs) => pairs.length)).toEqual([2, 0, 0, 2]);
  });

  it('are added up over all generator processes', () => {
    const one = new SpanCounts(250);
    const other = new SpanCounts(250);
    one.record(0, 1);
    other.record(0, 1);
    other.record(600, 2);
    const merged = mergeSpans([one.report, other.report]);
    expect(merged?.latencies.map((pairs) => pairs[1] ?? 0)).toEqual([2, 0, 1]);
    expect(mergeSpans([])).toBeUndefined();
  });

  it('are small: 400 trials of 10 min have less than 20 MB', () => {
    const spans = new SpanCounts(5000);
    for (let span = 0; span < 120; span++) for (let ms = 1; ms < 60; ms++) spans.record(span * 5000, ms);
    expect(JSON.stringify(spans.report).length).toBeLessThan(50_000);
  });
});

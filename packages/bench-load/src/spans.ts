import type { Spans } from 'bench-model/load';
import { addBuckets, bucketOf } from 'bench-statistics/buckets';

/** Counts latencies by spans of a window. */
export class SpanCounts {
  readonly #milliseconds: number;
  readonly #latencies: Map<number, number>[] = [];

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Records the latency of an answer that came this many ms after the window opened. */
  record(atMs: number, milliseconds: number): void {
    const span = Math.floor(atMs / this.#milliseconds);
    const counts = (this.#latencies[span] ??= new Map<number, number>());
    const bucket = bucketOf(1000 * milliseconds);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }

  get report(): Spans {
    return {
      milliseconds: this.#milliseconds,
      latencies: Array.from({ length: this.#latencies.length }, (_, span) =>
        [...(this.#latencies[span] ?? [])].toSorted(([a], [b]) => a - b).flat(),
      ),
    };
  }
}

/** Merges the spans of all generator processes; undefined without any. */
export function mergeSpans(all: readonly Spans[]): Spans | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const length = Math.max(...all.map(({ latencies }) => latencies.length));
  return {
    milliseconds: first.milliseconds,
    latencies: Array.from({ length }, (_, span) =>
      addBuckets(all.map(({ latencies }) => latencies[span] ?? [])),
    ),
  };
}

import type { Spans } from 'bench-model/load';
import { addBuckets, bucketOf } from 'bench-statistics/buckets';
import { sum } from 'bench-statistics/numbers';

/** Counts latencies, failures and open requests by spans of a window. */
export class SpanCounts {
  readonly #milliseconds: number;
  readonly #latencies: Map<number, number>[] = [];
  readonly #failed: number[] = [];
  readonly #open: number[] = [];

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Records the latency of an answer that came this many ms after the window opened. */
  record(atMs: number, milliseconds: number): void {
    const counts = (this.#latencies[this.#spanAt(atMs)] ??= new Map<number, number>());
    const bucket = bucketOf(1000 * milliseconds);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }

  /** Notes that a request ended while so many were open, itself included. */
  note(atMs: number, open: number, isOk: boolean): void {
    const span = this.#spanAt(atMs);
    this.#open[span] = Math.max(this.#open[span] ?? 0, open);
    if (!isOk) this.#failed[span] = (this.#failed[span] ?? 0) + 1;
  }

  get report(): Spans {
    const length = Math.max(this.#latencies.length, this.#open.length);
    const all = <T>(of: (span: number) => T): T[] => Array.from({ length }, (_, span) => of(span));
    return {
      milliseconds: this.#milliseconds,
      latencies: all((span) => [...(this.#latencies[span] ?? [])].toSorted(([a], [b]) => a - b).flat()),
      failed: all((span) => this.#failed[span] ?? 0),
      open: all((span) => this.#open[span] ?? 0),
    };
  }

  #spanAt(atMs: number): number {
    return Math.floor(atMs / this.#milliseconds);
  }
}

/** Merges the spans of all generator processes; undefined without any. The most requests that were open at once are at most their sum. */
export function mergeSpans(all: readonly Spans[]): Spans | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const length = Math.max(...all.map(({ open }) => open.length));
  const at = <T>(of: (span: number) => T): T[] => Array.from({ length }, (_, span) => of(span));
  return {
    milliseconds: first.milliseconds,
    latencies: at((span) => addBuckets(all.map(({ latencies }) => latencies[span] ?? []))),
    failed: at((span) => sum(all.map(({ failed }) => failed[span] ?? 0))),
    open: at((span) => sum(all.map(({ open }) => open[span] ?? 0))),
  };
}

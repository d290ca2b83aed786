/** Small histograms of latencies: pairs of a bucket and its count, one after the other. Bucket n is around 2^(n/8) µs. */
import { sum } from './numbers.ts';

/** The buckets of a factor of 2: they are 9 % wide. */
const PER_DOUBLING = 8;

/** Returns the bucket of a latency in µs. */
export function bucketOf(us: number): number {
  return Math.round(PER_DOUBLING * Math.log2(Math.max(1, us)));
}

/** Adds histograms bucket by bucket. */
export function addBuckets(all: readonly (readonly number[])[]): number[] {
  const counts = new Map<number, number>();
  for (const pairs of all)
    for (let index = 0; index < pairs.length; index += 2) {
      const [bucket = 0, count = 0] = pairs.slice(index, index + 2);
      counts.set(bucket, (counts.get(bucket) ?? 0) + count);
    }
  return [...counts].toSorted(([a], [b]) => a - b).flat();
}

/** Returns the counts of all buckets together. */
export function bucketTotal(pairs: readonly number[]): number {
  return sum(countsIn(pairs));
}

function countsIn(pairs: readonly number[]): number[] {
  return pairs.filter((_, index) => index % 2 === 1);
}

/** Returns a percentile in µs, within 5 %; undefined with fewer than ten answers beyond it, or one below p95. */
export function bucketPercentile(pairs: readonly number[], share: number): number | undefined {
  const counts = countsIn(pairs);
  const all = sum(counts);
  if (all * (1 - share) < (share > 0.95 ? 10 : 1) - 1e-9) return undefined;
  let counted = 0;
  const index = counts.findIndex((count) => (counted += count) >= share * all);
  return 2 ** ((pairs[2 * index] ?? 0) / PER_DOUBLING);
}

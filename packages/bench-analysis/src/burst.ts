/** How latency recovers from a burst of load, over the trials of a row. */
import type { Spans } from 'bench-model/load';
import type { Trial } from 'bench-model/record';
import { BEFORE_BURST } from 'bench-model/planned';
import type { Burst } from 'bench-model/settings';
import { present } from 'bench-model/options';
import { addBuckets, bucketPercentile } from 'bench-statistics/buckets';
import { median, sum } from 'bench-statistics/numbers';

/** The effect of a burst: medians of the trials. */
export interface BurstEffect extends Burst {
  /** The usual rate. */
  perSecond: number;
  /** p99 of the answers in the burst, in µs. */
  p99?: number;
  /** The seconds after its end until latency was back within its usual range; absent if it was not, in half of the trials. */
  backSeconds?: number;
  /** The requests that failed from its begin on. */
  failed: number;
  /** The most requests that were open at once. */
  mostOpen: number;
}

/** A span is as usual if its p90 is no higher than in the slowest span before the burst, times this. */
const USUAL = 1.2;
/** So many spans in a row must be as usual. */
const IN_A_ROW = 3;

/** Summarises the burst of trials; undefined if their load has none. */
export function summariseBurst(trials: readonly Trial[]): BurstEffect | undefined {
  const effects = trials.flatMap((trial) => {
    if (trial.status === 'failed' || trial.load.mode !== 'open' || trial.load.burst === undefined) return [];
    const { spans, windowSeconds } = trial.measured.load;
    if (spans === undefined) return [];
    return [
      {
        ...trial.load.burst,
        perSecond: trial.load.perSecond,
        ...effectOf(spans, trial.load.burst, windowSeconds),
      },
    ];
  });
  const [first] = effects;
  if (first === undefined) return undefined;
  const backs = effects.flatMap(({ backSeconds }) => backSeconds ?? []);
  const p99s = effects.flatMap(({ p99 }) => p99 ?? []);
  return {
    times: first.times,
    seconds: first.seconds,
    perSecond: first.perSecond,
    ...present({
      p99: p99s.length > 0 ? median(p99s) : undefined,
      // One that was never back takes longer than all others.
      backSeconds:
        backs.length * 2 > effects.length
          ? median([...backs, ...Array.from({ length: effects.length - backs.length }, () => Infinity)])
          : undefined,
    }),
    failed: median(effects.map(({ failed }) => failed)),
    mostOpen: median(effects.map(({ mostOpen }) => mostOpen)),
  };
}

function effectOf(
  { milliseconds, latencies, failed, open }: Spans,
  { seconds }: Burst,
  windowSeconds: number,
): Pick<BurstEffect, 'p99' | 'backSeconds' | 'failed' | 'mostOpen'> {
  const spanAt = (at: number): number => (1000 * at) / milliseconds;
  const begins = Math.floor(spanAt(BEFORE_BURST * windowSeconds));
  const ends = spanAt(BEFORE_BURST * windowSeconds + seconds);
  const p90s = latencies.map((pairs) => bucketPercentile(pairs, 0.9) ?? Infinity);
  // Late answers to the warm-up end in the first spans.
  const usual = USUAL * Math.max(...p90s.slice(Math.ceil(begins / 3), begins));
  const back = p90s.findIndex(
    (_, span) => span >= Math.floor(ends) && p90s.slice(span, span + IN_A_ROW).every((p90) => p90 <= usual),
  );
  const p99 = bucketPercentile(addBuckets(latencies.slice(begins, Math.ceil(ends))), 0.99);
  return {
    ...present({
      p99,
      backSeconds: back < 0 ? undefined : Math.max(0, ((back - ends) * milliseconds) / 1000),
    }),
    failed: sum(failed.slice(begins)),
    mostOpen: Math.max(0, ...open),
  };
}

/** Latency distributions, from the histograms that trials keep. */
import { mergeHistograms } from '../histogram.ts';
import { METRICS } from '../metrics.ts';
import type { LoadResult, Trial } from '../results/record.ts';
import { sum } from '../numbers.ts';
import { figureOf } from './metrics.ts';

/** The latencies of all right answers of a target at a rung. */
export interface Distribution {
  /** The answers of all its rounds. */
  answers: number;
  /** Requests that timed out: they count as slower than every answer. */
  timeouts: number;
  rounds: number;
  /** False if the tail is invalid in every round; then all rounds are merged. */
  valid: boolean;
  /** In ascending order; only percentiles with at least ten answers beyond them. */
  points: { percentile: number; us: number }[];
  /** The slowest answer, in µs. */
  maxUs: number;
}

const PERCENTILES = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.75, 99.9, 99.95, 99.975,
  99.99, 99.995, 99.999, 99.9995, 99.9999,
];

/** The answers that must lie beyond a percentile. */
const TAIL_SUPPORT = 10;

/** Merges the histograms of the rounds in which the tail is valid, or of all if there are none. Undefined without any. */
export function distributionOf(trials: readonly Trial[]): Distribution | undefined {
  const all = trials.flatMap((trial) => {
    const { latencyHistogram, counts } = loadOf(trial) ?? {};
    if (latencyHistogram === undefined) return [];
    const isValid = figureOf(trial, METRICS.p99)?.valid === true;
    return [{ latencyHistogram, timeouts: counts?.timeout ?? 0, isValid }];
  });
  const sound = all.filter(({ isValid }) => isValid);
  const used = sound.length > 0 ? sound : all;
  const merged = mergeHistograms(used.map(({ latencyHistogram }) => latencyHistogram));
  const answers = merged.totalCount;
  if (answers === 0) return undefined;
  const timeouts = sum(used.map((one) => one.timeouts));
  const asked = answers + timeouts;
  const points = PERCENTILES.flatMap((percentile) => {
    const below = (percentile / 100) * asked;
    if (below > answers || asked - below < TAIL_SUPPORT) return [];
    return [{ percentile, us: merged.getValueAtPercentile((100 * below) / answers) }];
  });
  return { answers, timeouts, rounds: used.length, valid: sound.length > 0, points, maxUs: merged.maxValue };
}

function loadOf(trial: Trial): LoadResult | undefined {
  return trial.status === 'failed' ? undefined : trial.measured.load;
}

/** Latency distributions, from the histograms that trials keep. */
import { measuredOf } from 'bench-model/trial';
import { mergeHistograms, TAIL_SUPPORT } from 'bench-statistics/histogram';
import { METRICS } from 'bench-model/metrics';
import type { Trial } from 'bench-model/record';
import { sum } from 'bench-statistics/numbers';
import { figureOf } from './metrics.ts';

/** The latencies of all correct responses of a target at a rung. */
export interface Distribution {
  /** The responses of all its rounds. */
  answers: number;
  /** Requests that timed out or were still open: they count as slower than every response. */
  unanswered: number;
  rounds: number;
  /** False if the tail is invalid in every round; then all rounds are merged. */
  valid: boolean;
  /** In ascending order; only percentiles with at least ten responses beyond them. */
  points: { percentile: number; us: number }[];
  /** The slowest response, in µs. */
  maxUs: number;
}

const PERCENTILES = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.75, 99.9, 99.95, 99.975,
  99.99, 99.995, 99.999, 99.9995, 99.9999,
];

/** Merges the histograms of the rounds in which the tail is valid, or of all if there are none. Undefined without any. */
export function distributionOf(trials: readonly Trial[]): Distribution | undefined {
  const all = trials.flatMap((trial) => {
    const { latencyHistogram, censoredHistogram, counts } = measuredOf(trial)?.load ?? {};
    if (latencyHistogram === undefined) return [];
    const isValid = figureOf(trial, METRICS.p99)?.valid === true;
    return [{ latencyHistogram, censoredHistogram, timeouts: counts?.timeout ?? 0, isValid }];
  });
  const sound = all.filter(({ isValid }) => isValid);
  const used = sound.length > 0 ? sound : all;
  const merged = mergeHistograms(used.map(({ latencyHistogram }) => latencyHistogram));
  const answers = merged.totalCount;
  if (answers === 0) return undefined;
  const censored = mergeHistograms(used.flatMap((one) => one.censoredHistogram ?? []));
  const unanswered = censored.totalCount + sum(used.map((one) => one.timeouts));
  // An open request of one round can be younger than the slowest response of another.
  const mostUs = censored.totalCount > 0 ? censored.minNonZeroValue : Infinity;
  const total = answers + unanswered;
  const points = PERCENTILES.flatMap((percentile) => {
    const below = (percentile / 100) * total;
    if (below > answers || total - below < TAIL_SUPPORT) return [];
    const us = merged.getValueAtPercentile((100 * below) / answers);
    return us > mostUs ? [] : [{ percentile, us }];
  });
  return {
    answers,
    unanswered,
    rounds: used.length,
    valid: sound.length > 0,
    points,
    maxUs: merged.maxValue,
  };
}

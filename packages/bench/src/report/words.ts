/** The metrics and their values in the middle of a sentence. */
import { METRICS, type MetricId } from '../metrics.ts';
import { FORMATS } from './format.ts';

/** The name of each metric. */
export const NAMES: Record<MetricId, string> = {
  goodput: 'throughput',
  p50: 'median latency',
  p99: 'p99 latency',
  cpu: 'CPU per request',
  memory: 'memory',
  startup: 'start-up time',
};

/** The words for a verdict on any metric, whichever direction is better. */
export const VERDICTS = {
  faster: 'better',
  slower: 'worse',
  same: 'the same',
  undecided: 'undecided',
} as const;

/** Shows a value of a metric with its unit. */
export function showValue(id: MetricId, value: number): string {
  const { unit } = METRICS[id];
  const text = FORMATS[unit](value);
  return unit === 'per second' ? `${text}/s` : unit === 'µs per request' ? `${text} µs` : text;
}

/** Lists words as in a sentence: `1, 10 and 100`. */
export function listAll(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words);
}

/** Lists alternatives as in a sentence: `1, 10 or 100`. */
export function listAny(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);
}

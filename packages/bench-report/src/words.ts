/** Values, verdicts and lists in the middle of a sentence. */
import { METRICS, type MetricId } from 'bench-model/metrics';
import { UNITS } from 'bench-model/units';
import { FORMATS } from './format.ts';

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
  return FORMATS[unit](value) + UNITS[unit].suffix;
}

/** Lists words as in a sentence: `1, 10 and 100`. */
export function listAll(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words);
}

/** Lists alternatives as in a sentence: `1, 10 or 100`. */
export function listAny(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);
}

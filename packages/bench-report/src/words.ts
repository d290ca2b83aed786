/** Values, verdicts and lists in the middle of a sentence. */
import type { Verdict } from 'bench-model/options';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { UNITS } from 'bench-model/units';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { FORMATS, formatUs } from './format.ts';

/** A verdict on any metric, whichever direction is better. */
export const QUALITIES: Readonly<Record<Verdict, string>> = {
  faster: 'better',
  slower: 'worse',
  same: 'the same',
  undecided: 'undecided',
};

/** Shows a value of a metric with its unit. */
export function showValue(id: MetricId, value: number): string {
  const { unit } = METRICS[id];
  return FORMATS[unit](value) + UNITS[unit].suffix;
}

/** Says how many rounds a comparison needs that has these; `fewest` are those of a difference that is not large. */
export function describeNeeded(fewest: number, rounds = 0): string {
  if (rounds >= FEWEST_WITH_SPREAD) return `a decision needs at least ${fewest} rounds`;
  return `a large difference needs ${FEWEST_WITH_SPREAD} rounds, others at least ${fewest}`;
}

/** Returns the texts that apply: those that are neither absent, nor false, nor empty. */
export function listGiven(texts: readonly (string | false | undefined)[]): string[] {
  return texts.filter((text): text is string => Boolean(text));
}

/** Lists latencies in µs by their names, as far as they are known: `p50 100 µs`, `p99.9 ≥ 10.0 s`. */
export function listLatencies(
  latencies: Readonly<Record<string, number | undefined>>,
  atLeast: readonly string[] = [],
): string[] {
  return Object.entries(latencies).flatMap(([name, us]) =>
    us === undefined ? [] : `${name.replace('_', '.')} ${atLeast.includes(name) ? '≥ ' : ''}${formatUs(us)}`,
  );
}

/** Lists words as in a sentence: `1, 10 and 100`. */
export function listAll(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words);
}

/** Lists alternatives as in a sentence: `1, 10 or 100`. */
export function listAny(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);
}

/** More names are counted. */
const MOST_NAMED = 4;

/** Returns the first names; the others are counted: `3 more`. */
export function nameSome(names: readonly string[], most = MOST_NAMED): string[] {
  const rest = names.length - most;
  return rest > 0 ? [...names.slice(0, most), `${rest} more`] : [...names];
}

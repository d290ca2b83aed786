/** The meaning of the marks and the columns of a table of rows. */
import type { Row } from 'bench-analysis/summary';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { thresholdFor } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { sum } from 'bench-statistics/numbers';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { isSampled, showLimit } from './cells.ts';
import type { Sign, View } from './content.ts';
import { countOf, formatShare, formatWhole } from './format.ts';
import type { Model } from './model/definition.ts';
import { GROWTH, RANK, REST, RIGHT, timingMetricOf } from './table.ts';
import { listAny, listGiven } from './words.ts';

/** Explains the marks and the columns that a table may have. */
export function explainSigns({
  rows,
  companions,
  by = 'cpu',
  plan,
}: {
  rows: readonly Row[];
  companions?: Model['companions'] | undefined;
  /** The metric of the ranks. */
  by?: MetricId | undefined;
  plan?: Pick<Plan, 'sequentialTest'> | undefined;
}): Sign[] {
  const { threshold = thresholdFor(by) } = plan?.sequentialTest ?? {};
  const metric = timingMetricOf(rows);
  const rounds = Math.max(0, ...rows.map((row) => row.rounds));
  const few = rounds < FEWEST_WITH_SPREAD ? ` ${countOf(rounds, 'round')} cannot rank targets.` : '';
  const isSearched = rows.some(({ figures }) => figures.capacity);
  const searched = isSearched
    ? '; of a capacity, half of its 95 % interval in this run. The other figures are those of a load near it that met the SLO'
    : '';
  const paired =
    plan?.sequentialTest === undefined ? '' : ' Verdicts compare within rounds, so ± does not limit them.';
  return [
    {
      column: RANK,
      text: `${RANK} rank by ${METRICS[by].name}. Targets share a rank if the rounds show no difference of at least ${formatShare(threshold)}.`,
    },
    {
      mark: '±',
      text: `± half the range of the valid rounds, around their median${searched}.${paired}${few}`,
    },
    { mark: '≥', text: '≥ lower bound.' },
    { mark: '~', text: '~ in doubt in every round, by this share at most.' },
    { mark: '?', text: '? invalid in every round.' },
    { column: 'limit', text: describeLimits(rows, companions) },
    {
      column: GROWTH,
      text: `${GROWTH}: the memory that the server gained for each answer to the request, garbage included.`,
    },
    {
      column: RIGHT,
      text: `${RIGHT}: the share of requests with a correct response.${describeSample(rows)}`,
    },
    {
      column: REST,
      text: `${metric}: the median time that servers reported (Server-Timing). ${REST}: the median of the latency minus that time. At more than 1 connection, ${REST} includes time in queues.`,
    },
  ];
}

/** Selects the texts of the marks and columns that a table shows. */
export function readSigns({ signs, columns, groups }: Pick<View, 'signs' | 'columns' | 'groups'>): string[] {
  const cells = groups.flatMap(({ rows }) => rows.flat());
  const shown = signs.filter(
    ({ mark, column }) =>
      (column === undefined || columns.includes(column)) &&
      // A name may have the character of a mark: shop[HEAD~1], GET /orders?limit=20.
      (mark === undefined || cells.some((cell) => cell.split(' ').some((word) => word.startsWith(mark)))),
  );
  return listGiven(shown.map(({ text }) => text));
}

/** Explains the limits that occur; empty if no row has one. */
function describeLimits(rows: readonly Row[], companions: Model['companions']): string {
  const shown = new Set<string>(rows.map(showLimit));
  const services = Object.keys(companions ?? {}).filter((name) => shown.has(name));
  const saturated = listGiven([
    shown.has('server') && 'the server',
    ...services.map((name) => `the ${name}`),
    shown.has('generator') && 'the load generator',
    shown.has('waiting') && 'nothing (waiting)',
    shown.has('others') && 'the CPU, by processes that do not belong to this run (others)',
    shown.has('unknown') && 'unknown, because the CPU of the server was not measured',
  ]);
  return saturated.length === 0 ? '' : `limit: what was saturated: ${listAny(saturated)}.`;
}

/** Says how many bodies the share of correct responses is based on. */
function describeSample(rows: readonly Row[]): string {
  const sampled = rows.flatMap(({ checked }) =>
    checked !== undefined && isSampled(checked) ? [checked] : [],
  );
  if (sampled.length === 0) return '';
  const [bodies, answers] = (['bodies', 'answers'] as const).map((key) =>
    formatWhole(sum(sampled.map((one) => one[key]))),
  );
  return ` ≤ upper bound: ${bodies} of ${answers} responses were compared byte by byte.`;
}

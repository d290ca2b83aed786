/** The table of a run in words: its columns with their meaning, and the rows grouped by place. */
import type { Figure, Row } from 'bench-analysis/summary';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import { thresholdFor } from 'bench-model/options';
import { sum } from 'bench-statistics/numbers';
import {
  describeRight,
  describeStatus,
  isSampled,
  showFigure,
  showGrowth,
  showLimit,
  showMetric,
  tellLimits,
} from './cells.ts';
import { formatShare, formatUs, formatWhole, groupByPlace } from './format.ts';
import type { Sign, View } from './content.ts';
import type { Model } from './model/definition.ts';
import { listAny, listGiven } from './words.ts';

/** A summarised row, with ranks if its run has them. */
type RankedRow = Row & { figures: Partial<Record<MetricId, Figure & { rank?: number }>> };

type Cell = (row: RankedRow) => string;

/** Columns of words that a narrow page can omit, with their rank among the metrics. */
const EXPENDABLE_WORDS: [string, number][] = [
  ['status', 2],
  ['limit', 4],
  ['class', 6],
];

/** The column with the rank. */
const RANK = '#';

/** The column with the share of correct responses. */
const RIGHT = 'right';

/** The column with the memory that a server gained for each response. */
const GROWTH = 'growth/req';

/** The column with the latency minus the time that the server reported. */
const REST = 'respond';

/** Builds the table of summarised rows. If they have ranks by this metric, a column shows them. */
export function toTable(
  rows: readonly RankedRow[],
  metric?: MetricId,
  facts: Facts = {},
): Pick<View, 'columns' | 'words' | 'expendable' | 'shareable' | 'groups' | 'signs'> {
  const cells = cellsFor(rows, metric);
  // Only if each trial is ok may a page omit the status.
  const isSound = rows.every(({ statuses, rounds }) => statuses.ok === rounds);
  const mayOmit = (column: string): boolean => column !== 'status' || isSound;
  return {
    columns: Object.keys(cells),
    words: ['target', 'request', 'class', 'limit', 'status'],
    expendable: listExpendable().filter(mayOmit),
    shareable: EXPENDABLE_WORDS.map(([name]) => name).filter(mayOmit),
    groups: groupByPlace(rows).map(({ heading, rows: own }) => ({
      heading,
      rows: own.map((row) => Object.values(cells).map((show) => show(row))),
    })),
    signs: explainSigns(rows, metric ?? 'cpu', facts),
  };
}

/** Returns the name of the time that servers reported in Server-Timing; undefined if none did. */
function timingMetricOf(rows: readonly Row[]): string | undefined {
  return rows.find(({ timing }) => timing !== undefined)?.timing?.metric;
}

/** Lists the columns that a narrow page omits, in that order. */
function listExpendable(): string[] {
  const metrics = METRIC_IDS.flatMap((id): [string, number][] => {
    const { label, column } = METRICS[id];
    return column.expendable === undefined ? [] : [[label, column.expendable]];
  });
  return [...metrics, ...EXPENDABLE_WORDS].toSorted(([, a], [, b]) => a - b).map(([name]) => name);
}

/**
 * The columns of a run: one per metric that a row has. If some responses were wrong, the share of
 * right ones follows the goodput. If servers reported their time, the two parts of the latency follow it. For requests that
 * are measured alone, the growth of memory follows the memory.
 */
function cellsFor(rows: readonly RankedRow[], metric: MetricId | undefined): Record<string, Cell> {
  const metrics = METRIC_IDS.filter((id) => rows.some(({ figures }) => figures[id] !== undefined));
  const lastLatency = metrics.findLast((id) => METRICS[id].dependsOn.includes('latency'));
  const beside: Partial<Record<MetricId, Record<string, Cell>>> = {
    goodput: rows.some(({ right = 1 }) => right < 1) ? { [RIGHT]: describeRight } : {},
    ...(lastLatency && { [lastLatency]: timingCells(rows) }),
    memory: rows.some(({ growth }) => growth !== undefined) ? { [GROWTH]: showGrowth } : {},
  };
  return {
    ...nameCells(rows),
    ...rankCells(rows, metric),
    ...(rows.some((row) => row.class !== 'unknown') && { class: (row: RankedRow) => row.class }),
    ...Object.fromEntries(
      metrics.flatMap((id): [string, Cell][] => [
        [METRICS[id].label, (row) => showMetric(id, row)],
        ...Object.entries(beside[id] ?? {}),
      ]),
    ),
    ...(tellLimits(rows) ? { limit: showLimit } : {}),
    status: describeStatus,
  };
}

/** The first column: the target, or the request if there is one target with several. */
function nameCells(rows: readonly RankedRow[]): Record<string, Cell> {
  const isAlone = new Set(rows.map(({ target }) => target)).size < 2;
  return isAlone && rows.some(({ route }) => route !== undefined)
    ? { request: ({ route, target }) => route ?? target }
    : { target: ({ target }) => target };
}

function rankCells(rows: readonly RankedRow[], metric: MetricId | undefined): Record<string, Cell> {
  const rankOf = ({ figures }: RankedRow): number | undefined => metric && figures[metric]?.rank;
  if (rows.every((row) => rankOf(row) === undefined)) return {};
  return { [RANK]: (row) => String(rankOf(row) ?? '—') };
}

function timingCells(rows: readonly Row[]): Record<string, Cell> {
  const metric = timingMetricOf(rows);
  if (metric === undefined) return {};
  return {
    [metric]: ({ timing }) => showFigure(timing?.told, formatUs),
    [REST]: ({ timing }) => showFigure(timing?.rest, formatUs),
  };
}

/** The facts about a run that the meaning of a mark or a column depends on. */
type Facts = Partial<Pick<Model, 'companions' | 'plan'>>;

/** Explains the marks and the columns that a table may have. `by` is the metric of the ranks. */
function explainSigns(rows: readonly Row[], by: MetricId, { companions, plan }: Facts): Sign[] {
  const { threshold = thresholdFor(by) } = plan?.sequentialTest ?? {};
  const metric = timingMetricOf(rows);
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
      text: `± half the range of the valid rounds, around their median${searched}.${paired}`,
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

/** The table of a run in words: its columns, and the rows grouped by place. */
import type { Figure, Row } from 'bench-analysis/summary';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import {
  describeRight,
  describeStatus,
  showFigure,
  showGrowth,
  showLimit,
  showMetric,
  tellLimits,
} from './cells.ts';
import { formatUs, groupByPlace } from './format.ts';
import type { View } from './content.ts';

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
export const RANK = '#';

/** The column with the share of correct responses. */
export const RIGHT = 'right';

/** The column with the memory that a server gained for each response. */
export const GROWTH = 'growth/req';

/** The column with the latency minus the time that the server reported. */
export const REST = 'respond';

/** Builds the table of summarised rows. If they have ranks by this metric, a column shows them. */
export function toTable(
  rows: readonly RankedRow[],
  metric?: MetricId,
): Pick<View, 'columns' | 'words' | 'expendable' | 'shareable' | 'groups'> {
  const cells = cellsFor(rows, metric);
  const mayOmit = (column: string): boolean => column !== 'status' || rows.every(isSound);
  return {
    columns: Object.keys(cells),
    words: ['target', 'request', 'class', 'limit', 'status'],
    expendable: listExpendable().filter(mayOmit),
    shareable: EXPENDABLE_WORDS.map(([name]) => name).filter(mayOmit),
    groups: groupByPlace(rows).map(({ heading, rows: own }) => ({
      heading,
      rows: own.map((row) => Object.values(cells).map((show) => show(row))),
    })),
  };
}

/** Returns true if each trial of a row is ok: only then may a page omit its status. */
function isSound({ statuses, rounds }: Row): boolean {
  return statuses.ok === rounds;
}

/** Returns true if some requests of a row were answered wrongly. */
function hasWrong(rows: readonly Row[]): boolean {
  return rows.some(({ right = 1 }) => right < 1);
}

/** Returns the name of the time that servers reported in Server-Timing; undefined if none did. */
export function timingMetricOf(rows: readonly Row[]): string | undefined {
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
    goodput: hasWrong(rows) ? { [RIGHT]: describeRight } : {},
    ...(lastLatency && { [lastLatency]: timingCells(rows) }),
    memory: rows.some(({ growth }) => growth !== undefined) ? { [GROWTH]: showGrowth } : {},
  };
  return {
    ...nameCells(rows),
    ...rankCells(rows, metric),
    class: (row) => row.class,
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

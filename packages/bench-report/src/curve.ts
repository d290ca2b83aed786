/** Latency over load in words: a table with a group for each target at each place. */
import { METRICS } from 'bench-model/metrics';
import type { View } from './content.ts';
import { formatCost, formatCount, formatShare, formatUs, nameCell } from './format.ts';
import type { ModelRow } from './model/definition.ts';

/** Builds the table; undefined if no trial measured shares of its capacity. */
export function toCurveView(rows: readonly ModelRow[]): View['curve'] {
  const drawn = rows.flatMap((row) => (row.curve === undefined ? [] : [{ ...row, curve: row.curve }]));
  if (drawn.length === 0) return undefined;
  const figures = { p50: formatUs, p99: formatUs, 'p99.9': formatUs, cpu: formatCost } as const;
  const names = Object.keys(figures) as (keyof typeof figures)[];
  return {
    title: 'Latency over load',
    columns: ['load', 'requests/s', ...names.map((id) => METRICS[id].label), 'limit'],
    words: ['limit'],
    expendable: ['p99.9', 'limit'],
    groups: drawn.map(({ curve, ...row }) => ({
      heading: nameCell(row),
      rows: curve.map((point) => [
        formatShare(point.share),
        formatCount(point.perSecond),
        ...names.map((id) => (point[id] === undefined ? '—' : figures[id](point[id]))),
        point.limit,
      ]),
    })),
    notes: ['load: the share of the capacity of each trial; medians of the rounds'],
  };
}

/** Latency over load in words: a table with a group for each target at each place. */
import { METRICS } from 'bench-model/metrics';
import type { SideTable } from './content.ts';
import { formatCost, formatCount, formatShare, formatUs, nameCell } from './format.ts';
import type { ModelRow } from './model/definition.ts';

/** Builds the table; undefined if no trial measured other loads. */
export function toCurveView(rows: readonly ModelRow[]): SideTable | undefined {
  const drawn = rows.flatMap((row) => (row.curve === undefined ? [] : [{ ...row, curve: row.curve }]));
  if (drawn.length === 0) return undefined;
  const figures = { p50: formatUs, p99: formatUs, 'p99.9': formatUs, cpu: formatCost } as const;
  const names = Object.keys(figures) as (keyof typeof figures)[];
  const hasShares = drawn.some(({ curve }) => curve.some(({ share }) => share !== undefined));
  return {
    title: 'Latency over load',
    columns: [
      ...(hasShares ? ['load'] : []),
      'requests/s',
      'responses/s',
      ...names.map((id) => METRICS[id].label),
      'limit',
    ],
    words: ['limit'],
    expendable: ['p99.9', 'responses/s', 'limit'],
    groups: drawn.map(({ curve, ...row }) => ({
      heading: nameCell(row),
      rows: curve.map((point) => [
        ...(hasShares ? [point.share === undefined ? '—' : formatShare(point.share)] : []),
        formatCount(point.perSecond),
        formatCount(point.served),
        ...names.map((id) => (point[id] === undefined ? '—' : figures[id](point[id]))),
        point.limit,
      ]),
    })),
    notes: [`Medians of the rounds${hasShares ? '; load is the share of the capacity of each trial' : ''}`],
  };
}

/** Latency over load in words: a table with a group for each target at each place, and what limits each target. */
import type { Knee } from 'bench-analysis/curve';
import { METRICS } from 'bench-model/metrics';
import type { View } from './content.ts';
import {
  formatCores,
  formatCost,
  formatCount,
  formatShare,
  formatUs,
  formatWhole,
  nameCell,
} from './format.ts';
import type { ModelRow } from './model/definition.ts';

/** Builds the table; undefined if no trial measured other loads. */
export function toCurveView(rows: readonly ModelRow[]): View['curve'] {
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
      'answers/s',
      ...names.map((id) => METRICS[id].label),
      'limit',
    ],
    words: ['limit'],
    expendable: ['p99.9', 'answers/s', 'limit'],
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
    notes: [`${hasShares ? 'load: the share of the capacity of each trial; ' : ''}medians of the rounds`],
  };
}

/** Says in one line for each target what keeps it from carrying more. */
export function describeKnees(rows: readonly ModelRow[]): string[] {
  return rows.flatMap(({ knee, ...row }) => (knee === undefined ? [] : [`${nameCell(row)}: ${knee}`]));
}

/** Describes what keeps a server from carrying more: `limited by its CPU, 0.97 of 1 core`. */
export function describeLimit(knee: Knee): string {
  switch (knee.by) {
    case 'generator':
      return `limited by the load generator, ${Math.round(100 * knee.busy)} % busy: load from several hosts (--cluster) may carry it further`;
    case 'accept-queue':
      return `limited by its accept queue, which was full for ${formatWhole(knee.overflows)} connects`;
    case 'server':
      return `limited by its CPU, ${Number(knee.usedCores.toFixed(2))} of ${formatCores(knee.usableCores)} in use`;
    case 'connections':
      return `limited by the connections of the load: about ${formatWhole(Math.round(knee.atOnce))} requests at once, one on each${idle(knee.usedCores)}`;
    case 'pool':
      return `limited by a pool or a lock: about ${formatWhole(Math.max(1, Math.round(knee.atOnce)))} requests at once${idle(knee.usedCores)}`;
    default:
      return `limited by ${knee.by}`;
  }
}

function idle(usedCores = 0): string {
  return `, and its CPU was idle (${formatCores(usedCores)})`;
}

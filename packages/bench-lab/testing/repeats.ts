/** The agreement of repeats of one run, as tables of a document. */
import { compareWithin, type ComparedTable } from 'bench-analysis/compare';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { DEFAULT_THRESHOLD } from 'bench-model/options';
import { median } from 'bench-statistics/numbers';
import { describeVerdict } from 'bench-report/compare';
import { formatWhole } from 'bench-report/format';
import type { ModelRow } from 'bench-report/model/definition';
import { toModel } from 'bench-report/model/model';
import type { StoredRun } from 'bench-analysis/results/store';
import { drawTable } from './draw-table.ts';

/**
 * Draws one row for each number of connections: the ranks of the targets in each run, and how far the ratio of two targets moves from
 * run to run, as the largest ÷ the smallest over the runs, for the median of all pairs and for the worst.
 */
export function drawRepeats(metric: MetricId, repeats: { link: string; run: StoredRun }[]): string {
  const tables = repeats.map(({ run }) => toModel(run).rows);
  const [first = []] = tables;
  const rungs = [...new Set(first.map(({ connections }) => connections))];
  const lines = rungs.map((rung) => {
    const own = tables.map((rows) => rows.filter(({ connections }) => connections === rung));
    const targets = (own[0] ?? []).map(({ target }) => target);
    const moves = targets.flatMap((one, index) =>
      targets.slice(index + 1).map((other) => {
        const ratios = own.map((rows) => ratioOf(metric, rows, one, other));
        return Math.max(...ratios) / Math.min(...ratios) - 1;
      }),
    );
    return [
      formatWhole(rung),
      targets.join(', '),
      ...own.map((rows) => targets.map((target) => figureOf(metric, rows, target)?.rank ?? '—').join(' ')),
      showShare(median(moves)),
      showShare(Math.max(...moves)),
    ];
  });
  const ranks = repeats.map(({ link }, index) => `ranks in [run ${index + 1}](${link})`);
  const label = METRICS[metric].label;
  const head = ['connections', `targets, by ${label}`, ...ranks, 'a ratio moves by', 'at most'];
  const [all = '', ...others] = new Set(lines.map(([, targets]) => targets));
  if (others.length > 0) return drawTable(head, lines);
  return `${drawTable(omitSecond(head), lines.map(omitSecond))}\n\nThe targets, by ${label}: ${all}.`;
}

/** Draws one row for each comparison, with its verdict in each run. */
export function drawVerdicts(repeats: { link: string; table: ComparedTable }[]): string {
  const lines = (repeats[0]?.table.rows ?? []).map(({ candidate, connections }) => [
    `\`${candidate}\``,
    formatWhole(connections),
    ...repeats.map(({ table }) => {
      const row = table.rows.find((one) => one.candidate === candidate && one.connections === connections);
      return row === undefined ? '—' : describeVerdict(row);
    }),
  ]);
  const runs = repeats.map(
    ({ link }, index) => `[${repeats.length === 1 ? 'verdict' : `run ${index + 1}`}](${link})`,
  );
  const isOneRung = new Set(lines.map(([, connections]) => connections)).size === 1;
  const head = ['target', 'connections', ...runs];
  return isOneRung ? drawTable(omitSecond(head), lines.map(omitSecond)) : drawTable(head, lines);
}

function omitSecond(cells: readonly string[]): string[] {
  return cells.toSpliced(1, 1);
}

/** Compares the targets of a run by CPU per request. */
export function compareOf(run: StoredRun): ComparedTable {
  return compareWithin(run, { by: 'cpu', threshold: DEFAULT_THRESHOLD });
}

function figureOf(metric: MetricId, rows: readonly ModelRow[], target: string) {
  return rows.find((row) => row.target === target)?.figures[metric];
}

function ratioOf(metric: MetricId, rows: readonly ModelRow[], one: string, other: string): number {
  const [a, b] = [one, other].map((target) => figureOf(metric, rows, target)?.median ?? Number.NaN);
  return (a as number) / (b as number);
}

/** `3.2 %`. */
export function showShare(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Two runs of different times, as text and as Markdown. */
import type { RunsRow, RunsTable } from '../analyse/runs.ts';
import { METRICS } from '../metrics.ts';
import { showMetric } from './cells.ts';
import { type LaidOut, renderLaidOut, renderLaidOutMarkdown } from './compare.ts';
import { formatWhole } from './format.ts';

/** Renders the figures of two runs and their ratios. */
export function renderRuns(table: RunsTable, title: string, marks: string[], width = Infinity): string {
  return renderLaidOut(layOutRuns(table, marks), title, width);
}

/** Renders the same table as Markdown. */
export function renderRunsMarkdown(table: RunsTable, title: string, marks: string[]): string {
  return renderLaidOutMarkdown(layOutRuns(table, marks), title);
}

function layOutRuns({ by, rows }: RunsTable, marks: string[]): LaidOut {
  const { label, better } = METRICS[by];
  const show = (figure: RunsRow['old']): string =>
    showMetric(by, { figures: figure === undefined ? {} : { [by]: figure } });
  return {
    heads: ['connections', 'target', 'old', 'new', 'new ÷ old'],
    rows: rows.map(({ connections, candidate, old, new: now, ratio }) => [
      formatWhole(connections),
      candidate,
      show(old),
      show(now),
      ratio === undefined ? '—' : `× ${ratio.toFixed(3)}`,
    ]),
    notes: [
      `${label}, ${better} is better`,
      'no interval and no verdict: the runs were measured at different times, so a ratio includes every other change between them, also that of the machine',
      ...marks,
    ],
  };
}

/** Two runs of different times, side by side. */
import type { RunsRow, RunsTable } from 'bench-analysis/runs';
import { METRICS } from 'bench-model/metrics';
import { showMetric } from './cells.ts';
import { viewTable, type View } from './content.ts';
import { formatRatio, formatWhole } from './format.ts';

/** Builds the view of the figures of two runs and their ratios. */
export function viewRuns({ by, rows }: RunsTable, title: string, marks: readonly string[]): View {
  const { label, better } = METRICS[by];
  const show = (figure: RunsRow['old']): string =>
    showMetric(by, { figures: figure === undefined ? {} : { [by]: figure } });
  const hasRoutes = rows.some(({ route }) => route !== undefined);
  return viewTable(
    {
      title,
      columns: ['connections', ...(hasRoutes ? ['request'] : []), 'target', 'old', 'new', 'new ÷ old'],
      rows: rows.map(({ connections, route = '', candidate, old, new: now, ratio }) => [
        formatWhole(connections),
        ...(hasRoutes ? [route] : []),
        candidate,
        show(old),
        show(now),
        ratio === undefined ? '—' : formatRatio(ratio),
      ]),
      notes: [`${label}, ${better} is better`, by === 'capacity' ? OF_ITS_RUN : NO_INTERVAL, ...marks],
    },
    ['connections', 'old', 'new'],
  );
}

const OF_ITS_RUN =
  'No ratio: a capacity holds for its run, and the next day it can be a third higher. To compare two servers, measure both in one run';

const NO_INTERVAL =
  'No interval and no verdict: the runs were measured at different times, so a ratio includes every other change between them, also that of the machine';

import type { Site, SiteRun } from '../../src/site/data.ts';
import type { Cover } from '../../src/site/cover.ts';
import { METRICS } from 'bench-model/metrics';
import { formatWhole } from '../../src/format.ts';
import { writeValue } from '../axes.ts';
import { picture } from '../chart.ts';
import { drawForest } from '../forest.ts';
import { drawRanks } from '../ranking.ts';
import { nameRung, sortRows } from '../section.ts';
import { element, table, type Column, type Content } from '../elements.ts';
import type { Shown } from '../frame.ts';
import { formatTime, type SiteRow } from './histories.ts';

/** The runs with a picture, and its most bars. */
const MOST_COVERS = 12;
const MOST_BARS = 6;

/** More targets of one run are counted, not named. */
const MOST_NAMED = 4;

/** Lists the runs with links to their reports: those with a row that passes the filters, or all of them. */
export function buildRuns({ runs }: Site, { rows }: Shown<SiteRow>, all: number): Content {
  const kept = new Set(rows.map(({ run }) => run));
  // Quick runs and runs without trials have no rows: they appear as long as nothing is filtered.
  const listed = rows.length === all ? runs : runs.filter(({ run }) => kept.has(run));
  if (listed.length === 0) return element('p', {}, 'No run passes the filters.');
  const machines = new Set(runs.map(({ machine }) => machine));
  const columns: Column<SiteRun>[] = [
    { head: 'run', cell: ({ run, href }) => element('a', { href }, run), isText: true },
    {
      head: 'began (UTC)',
      cell: ({ startedAt }) => (startedAt === undefined ? '—' : formatTime(startedAt)),
      isText: true,
    },
    { head: 'workload', cell: ({ workload }) => workload, isText: true },
    { head: 'connections', cell: ({ rungs }) => rungs.map(formatWhole).join(', '), isText: true },
    { head: 'targets', cell: ({ targets }) => listTargets(targets), isText: true },
    { head: 'rounds', cell: ({ rounds: { measured, planned } }) => `${measured} of ${planned}` },
    { head: 'trials', cell: describeTrials, isText: true },
    ...(machines.size > 1
      ? [{ head: 'machine', cell: ({ machine }: SiteRun) => machine, isText: true }]
      : []),
  ];
  return [
    showCovers(listed),
    machines.size === 1 ? element('p', {}, `Machine: ${[...machines].join('')}.`) : undefined,
    table('Runs, the newest first', columns, listed),
  ];
}

/** The newest runs, each with its outcome and a picture of it. */
function showCovers(runs: readonly SiteRun[]): Content {
  const covered = runs.filter(({ cover }) => cover !== undefined).slice(0, MOST_COVERS);
  if (covered.length === 0) return undefined;
  return element(
    'ul',
    { class: 'covers', 'aria-label': 'The newest runs' },
    covered.map(({ run, href, startedAt, workload, cover }) =>
      element(
        'li',
        {},
        element('h3', {}, element('a', { href }, workload)),
        element(
          'p',
          { class: 'key' },
          `${startedAt === undefined ? '' : `${formatTime(startedAt)}, `}${run}`,
        ),
        element('p', {}, cover?.outcome),
        cover && showCover(cover),
      ),
    ),
  );
}

function showCover({ metric, connections, compared, ranked }: Cover): Content {
  const { label, better } = METRICS[metric];
  const title = `${label} at ${nameRung(connections)}`;
  const sorted = sortRows(ranked, metric).slice(0, MOST_BARS);
  if ((compared?.rows ?? sorted).length === 0) return undefined;
  return [
    compared === undefined
      ? picture({
          title,
          description: sorted
            .map(({ target, figures }) => `${target}: ${writeValue(metric, figures[metric]?.median ?? 0)}`)
            .join('. '),
          draw: (width) => drawRanks(sorted, metric, width),
        })
      : picture({
          title,
          description: compared.rows.map(({ name, words }) => `${name}: ${words}`).join('. '),
          draw: (width) => drawForest(compared.rows, { threshold: compared.threshold, better }, width),
        }),
    element('p', { class: 'key' }, compared === undefined ? title : `Ratio of ${title}`),
  ];
}

function listTargets(targets: readonly string[]): string {
  const rest = targets.length - MOST_NAMED;
  const named = targets.slice(0, MOST_NAMED).join(', ');
  return rest > 0 ? `${named} and ${rest} more` : named;
}

function describeTrials({ statuses, quick }: SiteRun): string {
  const seen = Object.entries(statuses).filter(([, count]) => count > 0);
  const words = seen.map(([status, count]) => `${formatWhole(count)} ${status}`).join(', ') || 'none';
  return quick ? `${words} (quick: not shown over time)` : words;
}

/** Lists the folders that the index does not show. */
export function buildSkipped({ skipped }: Site): Content {
  if (skipped.length === 0) return undefined;
  return table(
    'Folders of the results without a report',
    [
      { head: 'folder', cell: ({ name }) => name, isText: true },
      { head: 'reason', cell: ({ reason }) => reason, isText: true },
    ],
    skipped,
  );
}

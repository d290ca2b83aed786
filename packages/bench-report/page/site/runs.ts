import type { Site, SiteRun } from '../../src/site/data.ts';
import { formatWhole } from '../../src/format.ts';
import { element, table, type Column, type Content } from '../elements.ts';
import type { Shown } from '../frame.ts';
import { formatTime, type SiteRow } from './histories.ts';

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
    machines.size === 1 ? element('p', {}, `Machine: ${[...machines].join('')}.`) : undefined,
    table('Runs, the newest first', columns, listed),
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

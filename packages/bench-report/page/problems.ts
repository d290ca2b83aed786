import { countOf, formatWhole, nameCell } from '../src/format.ts';
import type { PageRow } from '../src/html/data.ts';
import { writeTrial } from './axes.ts';
import { disclosure, element, table, type Content } from './elements.ts';
import type { Section } from './section.ts';

/** More trials are counted, not listed: the terminal prints them with --detail. */
const MOST_LISTED = 300;

type Trial = PageRow['trials'][number];

/** The trials in which a check failed or found something, and what their servers printed. */
export const problems: Section = {
  id: 'problems',
  title: 'Suspect and failed trials',
  build: ({ rows }) => {
    const troubled = rows.flatMap((row) =>
      row.trials.filter(({ reasons }) => reasons.length > 0).map((trial) => ({ row, trial })),
    );
    return troubled.length === 0
      ? element('p', {}, 'None: every check of every trial passed.')
      : listTrials(troubled);
  },
};

function listTrials(troubled: { row: PageRow; trial: Trial }[]): Content {
  const weight = ({ trial: { status } }: { trial: Trial }): number => (status === 'failed' ? 0 : 1);
  const listed = troubled.toSorted((a, b) => weight(a) - weight(b)).slice(0, MOST_LISTED);
  const rest = troubled.length - listed.length;
  return [
    listed.map(({ row, trial }) => {
      const made = disclosure(
        [
          element('strong', { class: trial.status }, trial.status),
          ` ${nameCell(row)}, round ${trial.round}: ${trial.reasons.map(({ code }) => code).join(', ')}`,
        ],
        element(
          'ul',
          {},
          trial.reasons.map(({ code, text }) => element('li', {}, element('strong', {}, code), `: ${text}`)),
        ),
        trial.logTail === undefined || trial.logTail.length === 0
          ? undefined
          : [
              element('p', {}, 'The last lines that the server printed:'),
              element(
                'pre',
                { tabindex: '0', 'aria-label': `Log of ${trial.id}`, role: 'region' },
                trial.logTail.join('\n'),
              ),
            ],
        element(
          'p',
          { class: 'key' },
          [`Trial ${trial.id}, seed ${trial.seed}, began ${trial.startedAt}.`, listFiles(trial)].join(' '),
        ),
      );
      made.open = trial.status === 'failed';
      return made;
    }),
    rest > 0
      ? element('p', {}, `${formatWhole(rest)} more: the option --detail prints all of them.`)
      : undefined,
  ];
}

function listFiles({ files }: Trial): string {
  return files.length === 0 ? '' : `Files: ${files.join(', ')}.`;
}

/** Every trial with its figures. */
export const trials: Section = {
  id: 'trials',
  title: 'All trials',
  build: ({ rows, page }) => {
    const all = rows
      .flatMap((row) => row.trials.map((trial) => ({ row, trial })))
      .toSorted((a, b) => a.trial.order - b.trial.order);
    const shown = page.metrics.filter(({ id }) => all.some(({ trial }) => trial.figures[id] !== undefined));
    const details = disclosure(`${countOf(all.length, 'trial')} in the order of the run`);
    // Built when it is opened: the table may be long.
    details.addEventListener(
      'toggle',
      () =>
        details.append(
          table(
            'All trials in the order of the run',
            [
              { head: 'trial', cell: ({ trial }) => trial.id, isText: true },
              { head: 'target', cell: ({ row }) => row.target, isText: true },
              { head: 'connections', cell: ({ row }) => formatWhole(row.connections) },
              { head: 'round', cell: ({ trial }) => String(trial.round) },
              { head: 'status', cell: ({ trial }) => trial.status, isText: true },
              { head: 'limit', cell: ({ trial }) => trial.limit ?? '—', isText: true },
              ...shown.map(({ id, label }) => ({
                head: label,
                cell: ({ trial }: { trial: Trial }) => writeTrial(id, trial.figures[id]),
              })),
              {
                head: 'reasons',
                cell: ({ trial }) => trial.reasons.map(({ code }) => code).join(', '),
                isText: true,
              },
            ],
            all,
          ),
        ),
      { once: true },
    );
    return details;
  },
};

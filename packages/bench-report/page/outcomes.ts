import { countCompletions } from 'bench-model/counts';
import { countOf, formatUs, formatWhole, nameTarget } from '../src/format.ts';
import type { PageRow } from '../src/html/data.ts';
import { element, table, type Column, type Content } from './elements.ts';
import type { Section } from './section.ts';

type Counts = NonNullable<PageRow['trials'][number]['counts']>;

/** A row with the sums of its trials. */
interface Summed {
  row: PageRow;
  counts: Counts;
}

/** The outcomes in the order of the columns. A column without any is left out. */
const OUTCOMES: readonly [keyof Counts, string][] = [
  ['sent', 'sent'],
  ['ok', 'right'],
  ['non2xx', 'wrong status'],
  ['mismatch', 'wrong body'],
  ['timeout', 'timed out'],
  ['reset', 'reset or refused'],
  ['closedEarly', 'closed early'],
  ['failed', 'failed'],
  ['inFlight', 'in flight at the end'],
];

/** The outcomes of all requests, failed trials included. */
export const outcomes: Section = {
  id: 'outcomes',
  title: 'Requests',
  build: ({ rows }) => {
    const summed = rows.flatMap((row): Summed[] => {
      const all = row.trials.flatMap(({ counts }) => counts ?? []);
      return all.length === 0 ? [] : [{ row, counts: add(all) }];
    });
    if (summed.length === 0) return undefined;
    const ended = summed.reduce((total, { counts }) => total + countCompletions(counts), 0);
    const right = summed.reduce((total, { counts }) => total + (counts.ok ?? 0), 0);
    const shown = OUTCOMES.filter(([name]) => summed.some(({ counts }) => read(counts, name) > 0));
    return [
      element(
        'p',
        {},
        right === ended
          ? `All ${formatWhole(ended)} requests that ended in a window had a correct response.`
          : `${formatWhole(ended - right)} of ${countOf(ended, 'request')} that ended in a window had no correct response. Only correct responses count as goodput.`,
      ),
      table(
        'How the requests of the windows ended, all rounds together',
        [
          { head: 'target', cell: ({ row }) => nameTarget(row), isText: true },
          { head: 'connections', cell: ({ row }) => formatWhole(row.connections) },
          ...shown.map(([name, head]): Column<Summed> => ({
            head,
            cell: ({ counts }) => (counts[name] === undefined ? '—' : formatWhole(counts[name])),
          })),
        ],
        summed,
      ),
      showRoutes(rows),
    ];
  },
};

/** Each request of a user, if there are several. */
function showRoutes(rows: readonly PageRow[]): Content {
  const all = rows.flatMap((row) => (row.routes ?? []).map((route) => ({ row, route })));
  if (all.length === 0) return undefined;
  const shown = OUTCOMES.filter(([name]) => all.some(({ route: { counts } }) => read(counts, name) > 0));
  return table(
    'Each request, all rounds together',
    [
      { head: 'request', cell: ({ route }) => route.request, isText: true },
      { head: 'target', cell: ({ row }) => row.target, isText: true },
      { head: 'connections', cell: ({ row }) => formatWhole(row.connections) },
      ...shown.map(([name, head]): Column<(typeof all)[number]> => ({
        head,
        cell: ({ route: { counts } }) => formatWhole(read(counts, name)),
      })),
      { head: 'p50', cell: ({ route }) => showTime(route.p50) },
      { head: 'p99', cell: ({ route }) => showTime(route.p99) },
    ],
    all,
  );
}

function showTime(us: number | undefined): string {
  return us === undefined ? '—' : formatUs(us);
}

function read(counts: Counts, name: keyof Counts): number {
  return counts[name] ?? 0;
}

/** Adds counts. One that no trial reports stays absent. */
function add(all: readonly Counts[]): Counts {
  const names = OUTCOMES.map(([name]) => name).filter((name) => all.some((one) => one[name] !== undefined));
  const total = (name: keyof Counts): number => all.reduce((sum, one) => sum + read(one, name), 0);
  return { ok: total('ok'), ...Object.fromEntries(names.map((name) => [name, total(name)])) };
}

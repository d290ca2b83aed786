import { METRICS } from 'bench-model/metrics';
import { formatShare, formatWhole, nameCell, nameTarget } from '../src/format.ts';
import type { PageComparisons } from '../src/html/data.ts';
import { element, type Column } from './elements.ts';
import { FOREST_KEY, showForest, type ForestRow } from './forest.ts';
import { nameRung, type Section } from './section.ts';

export type Compared = PageComparisons['rows'][number];

/** With more rows in one chart, its axis would be out of sight: each number of connections then gets a separate chart. */
const MOST_TOGETHER = 24;

/** Each target beside its baseline, as a forest plot. */
export const comparisons: Section = {
  id: 'comparisons',
  title: 'Comparisons',
  build: ({ page, rows, metric }) => {
    const found = page.comparisons.find(({ by }) => by === metric);
    const kept = new Set(rows.map(nameCell));
    const shown = (found?.rows ?? []).filter((row) => kept.has(nameCell({ ...row, target: row.candidate })));
    if (found === undefined || shown.length === 0) return undefined;
    const { label, better } = METRICS[metric];
    const title = `Ratio of ${label} ${found.against}`;
    const share = formatShare(found.threshold);
    const charts: [string, Compared[]][] =
      shown.length > MOST_TOGETHER
        ? [...Map.groupBy(shown, ({ connections }) => connections)].map(([connections, own]) => [
            `${title}, at ${nameRung(connections)}`,
            own,
          ])
        : [[title, shown]];
    return [
      element(
        'p',
        {},
        `Each target ${found.against}, paired by round. 1 means no difference; ${better === 'lower' ? 'left' : 'right'} of it is better. The grey band is the smallest difference that matters, ±${share}. The intervals at each number of connections hold together with 95 % confidence.`,
      ),
      element('p', { class: 'key' }, FOREST_KEY),
      charts.map(([name, compared]) =>
        showForest(name, toForest(compared), COLUMNS, { threshold: found.threshold, better }),
      ),
    ];
  },
};

const COLUMNS: Column<Compared & ForestRow>[] = [
  { head: 'target', cell: ({ candidate: target, route }) => nameTarget({ target, route }), isText: true },
  { head: 'connections', cell: ({ connections }) => formatWhole(connections) },
  { head: 'baseline', cell: ({ baseline }) => baseline, isText: true },
];

/** Names the rows of a forest plot. */
export function toForest(rows: Compared[]): (Compared & ForestRow)[] {
  const isOneRung = new Set(rows.map(({ connections }) => connections)).size === 1;
  return rows.map((row) => {
    const cell = { ...row, target: row.candidate };
    return { ...row, name: isOneRung ? nameTarget(cell) : nameCell(cell) };
  });
}

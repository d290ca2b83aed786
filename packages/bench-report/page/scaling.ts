import { element, table } from './elements.ts';
import type { Section } from './section.ts';

/** Speed-up, efficiency and cost of each server with more workers and threads. */
export const scaling: Section = {
  id: 'scaling',
  title: 'Scaling',
  build: ({ page, rows }) => {
    if (page.scaling === undefined) return undefined;
    const { columns, words, groups, notes } = page.scaling;
    const shown = columns.map((head, index) => ({
      head,
      cell: (row: string[]) => row[index],
      isText: words.includes(head),
    }));
    const kept = groups.filter((group) =>
      rows.some((row) => row.target === group.of && row.connections === group.connections),
    );
    if (kept.length === 0) return undefined;
    return [
      kept.map(({ heading, rows: sizes }) => table(heading, shown, sizes)),
      element(
        'ul',
        {},
        notes.map((note) => element('li', {}, note)),
      ),
    ];
  },
};

import { disclosure, element, list, table, type Column } from './elements.ts';
import { nameRung, type Section } from './section.ts';

/** The reports of time(1) side by side: fields as rows, targets as columns. */
export const times: Section = {
  id: 'time',
  title: 'Reports of time(1)',
  build: ({ page, rows }) => {
    const { columns, words, groups, notes: explanations } = page.times;
    const targets = new Set(rows.map(({ target }) => target));
    // The rows of the only target are named by its requests.
    const isNamed = columns.some((head) => targets.has(head));
    const shown = columns.flatMap((head, index): Column<string[]>[] => {
      const isText = words.includes(head);
      return isText || !isNamed || targets.has(head) ? [{ head, cell: (row) => row[index], isText }] : [];
    });
    const rungs = rows.map(({ connections }) => nameRung(connections));
    const kept = groups.filter(({ heading }) => rungs.includes(heading));
    if (kept.length === 0) return undefined;
    return [
      element('p', {}, 'What /usr/bin/time says of the whole life of each server: the median of its rounds.'),
      kept.map(({ heading, rows: fields }, index) => {
        const made = disclosure(heading, table(`time(1) at ${heading}`, shown, fields));
        made.open = index === 0;
        return made;
      }),
      list(explanations),
    ];
  },
};

import { list, tablesOfWords } from './elements.ts';
import type { Section } from './section.ts';

/** Speed-up, efficiency and cost of each server with more workers and threads. */
export const scaling: Section = {
  id: 'scaling',
  title: 'Scaling',
  build: ({ page, rows }) => {
    if (page.scaling === undefined) return undefined;
    const { scaling: shown } = page;
    const kept = shown.groups.filter((group) =>
      rows.some((row) => row.target === group.of && row.connections === group.connections),
    );
    if (kept.length === 0) return undefined;
    return [tablesOfWords({ ...shown, groups: kept }), list(shown.notes)];
  },
};

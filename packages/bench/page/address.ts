/** The state of the page in its address: a section and the filters, as in `#latency&stack=fastapi&stack=fastify`. */

/** The properties of a row that the page filters by. */
export const FILTERS = ['stack', 'runtime', 'target', 'connections'] as const;
export type Filter = (typeof FILTERS)[number];

/** What a reader has chosen. */
export interface Choice {
  /** The id of the section to show. */
  section: string;
  /** The chosen values; a filter without values lets every row pass. */
  filters: Record<Filter, string[]>;
  /** The metric of the ranking, the comparisons and the rounds; the default of the run if it is absent. */
  metric?: string;
  /** The row whose trials are shown over time: `10 fastify`. */
  row?: string;
}

/** Reads the fragment of an address. Unknown words are ignored. */
export function parseAddress(fragment: string): Choice {
  const [section = '', ...rest] = fragment.replace(/^#/, '').split('&');
  const isSection = !section.includes('=');
  const values = new URLSearchParams((isSection ? rest : [section, ...rest]).join('&'));
  const [metric, row] = [values.get('metric'), values.get('row')];
  return {
    section: isSection ? section : '',
    filters: Object.fromEntries(FILTERS.map((name) => [name, values.getAll(name)])) as Choice['filters'],
    ...(metric !== null && { metric }),
    ...(row !== null && { row }),
  };
}

/** Writes a choice as the fragment of an address. */
export function formatAddress({ section, filters, metric, row }: Choice): string {
  const values = new URLSearchParams(FILTERS.flatMap((name) => filters[name].map((value) => [name, value])));
  if (metric !== undefined) values.set('metric', metric);
  if (row !== undefined) values.set('row', row);
  return `#${[section, values.toString()].filter(Boolean).join('&')}`;
}

/** Returns true if a row passes the filters. */
export function passes(
  row: { stack: string; runtime: string; target: string; connections: number },
  filters: Choice['filters'],
): boolean {
  return FILTERS.every((name) => filters[name].length === 0 || filters[name].includes(String(row[name])));
}

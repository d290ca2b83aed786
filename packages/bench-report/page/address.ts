/** The state of a page in its address: a section and the filters, as in `#latency&stack=fastapi&stack=fastify`. */

/** A property that a page filters its rows by. */
export interface Filter<Row> {
  label: string;
  /** The value of a row. */
  of: (row: Row) => string;
  /** The name of a value. By default it is the value itself. */
  show?: (value: string) => string;
  /** Left out of the form, because other filters select the same rows. */
  isHidden?: boolean;
}

/** The filters of a page by name, in the order of its form. */
export type Filters<Row, Name extends string> = Readonly<Record<Name, Filter<Row>>>;

/** The choices of a reader. */
export interface Choice<Name extends string = string> {
  /** The id of the section to show. */
  section: string;
  /** The chosen values; a filter without values lets every row pass. */
  filters: Record<Name, string[]>;
  /** The metric of the charts that show one; the default of the page if it is absent. */
  metric?: string;
  /** The row whose trials are shown over time: `10 fastify`. */
  row?: string;
}

/** Reads the fragment of an address for filters of these names. Unknown words are ignored. */
export function parseAddress<Name extends string>(fragment: string, names: readonly Name[]): Choice<Name> {
  const [section = '', ...rest] = fragment.replace(/^#/, '').split('&');
  const isSection = !section.includes('=');
  const values = new URLSearchParams((isSection ? rest : [section, ...rest]).join('&'));
  const [metric, row] = [values.get('metric'), values.get('row')];
  return {
    section: isSection ? section : '',
    filters: Object.fromEntries(names.map((name) => [name, values.getAll(name)])) as Record<Name, string[]>,
    ...(metric !== null && { metric }),
    ...(row !== null && { row }),
  };
}

/** Writes a choice as the fragment of an address. */
export function formatAddress({ section, filters, metric, row }: Choice): string {
  const chosen = Object.entries(filters).flatMap(([name, values]) => values.map((value) => [name, value]));
  const values = new URLSearchParams(chosen);
  if (metric !== undefined) values.set('metric', metric);
  if (row !== undefined) values.set('row', row);
  return `#${[section, values.toString()].filter(Boolean).join('&')}`;
}

/** Returns true if a row has one of the chosen values of every filter. */
export function passes<Row, Name extends string>(
  row: Row,
  filters: Filters<Row, Name>,
  chosen: Record<Name, string[]>,
): boolean {
  return (Object.keys(filters) as Name[]).every(
    (name) => chosen[name].length === 0 || chosen[name].includes(filters[name].of(row)),
  );
}

/** Elements whose texts are never read as HTML. */
import type { View } from '../src/content.ts';

export type Content = Node | string | undefined | readonly Content[];

/** Makes an element. Attributes are set as they are; an absent value sets none. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | undefined> = {},
  ...contents: Content[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(key, value);
  append(made, contents);
  return made;
}

function append(parent: Element, contents: readonly Content[]): void {
  for (const one of contents) {
    if (one === undefined) continue;
    if (typeof one === 'string' || one instanceof Node) parent.append(one);
    else append(parent, one);
  }
}

/** A column of a table. */
export interface Column<Row> {
  head: string;
  cell: (row: Row) => Content;
  /** Left-aligned, because it holds words. */
  isText?: boolean;
}

/** Makes a table that scrolls within its own box. The first column names the row. */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): HTMLElement {
  const align = ({ isText }: Column<Row>): string | undefined => (isText ? undefined : 'number');
  return element(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          columns.map((column) => element('th', { scope: 'col', class: align(column) }, column.head)),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map((row) =>
          element(
            'tr',
            {},
            columns.map((column, index) =>
              index === 0
                ? element('th', { scope: 'row', class: align(column) }, column.cell(row))
                : element('td', { class: align(column) }, column.cell(row)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Makes a table of each group of a view that has rows, with its heading as the caption. */
export function tablesOfWords({
  columns,
  words,
  groups,
}: Pick<View, 'columns' | 'words' | 'groups'>): HTMLElement[] {
  const heads = columns.map((head, index) => ({
    head,
    cell: (row: string[]) => row[index],
    isText: words.includes(head),
  }));
  return groups.flatMap(({ heading, rows }) => (rows.length > 0 ? table(heading, heads, rows) : []));
}

/** Makes a list of sentences. */
export function list(texts: readonly string[], looks?: string): HTMLElement {
  return element(
    'ul',
    { class: looks },
    texts.map((text) => element('li', {}, text)),
  );
}

/** Makes a part that a reader opens. */
export function disclosure(summary: Content, ...contents: Content[]): HTMLDetailsElement {
  return element('details', {}, element('summary', {}, summary), contents);
}

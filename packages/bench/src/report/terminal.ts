import Table from 'cli-table3';
import type { View } from './view.ts';

/** Plain rows as text for a terminal, without a frame. */
export function renderRows(head: string[], rows: string[][]): string {
  const none = Object.fromEntries(FRAME.map((part) => [part, '']));
  const table = new Table({
    head,
    chars: { ...none, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows);
  return table.toString();
}

const FRAME = [
  'top',
  'top-mid',
  'top-left',
  'top-right',
  'bottom',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
];

/** The view as text for a terminal. */
export function renderTerminal(view: View): string {
  const table = new Table({
    head: view.columns,
    style: { head: [], border: [], compact: true },
    colAligns: view.columns.map((_, index) => (index < 2 || index > 7 ? 'left' : 'right')),
  });
  for (const { heading, rows } of view.groups) {
    table.push([{ colSpan: view.columns.length, content: heading }], ...rows);
  }
  return [
    view.title,
    ...view.setting.map((line) => `  ${line}`),
    table.toString(),
    ...view.notes.map((note) => `  ${note}`),
    '',
  ].join('\n');
}

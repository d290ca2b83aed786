import Table from 'cli-table3';
import type { View } from './view.ts';

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
  return [view.title, ...view.setting.map((line) => `  ${line}`), table.toString(), ...view.notes.map((note) => `  ${note}`), ''].join('\n');
}

import Table from 'cli-table3';
import { layOut } from './page.ts';
import type { View } from './view.ts';

/** Renders plain rows without a frame. Columns outside `words` are right-aligned. */
export function renderRows(head: string[], rows: string[][], words = head): string {
  const none = Object.fromEntries(FRAME.map((part) => [part, '']));
  const table = new Table({
    head,
    colAligns: alignmentOf(head, words),
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

/** Renders a view for a terminal, at most `width` columns wide. */
export function renderTerminal(view: View, width = Infinity): string {
  return layOut(view, width, drawTable);
}

function drawTable({ columns, words, groups }: View): string {
  const table = new Table({
    head: columns,
    style: { head: [], border: [], compact: true },
    colAligns: alignmentOf(columns, words),
  });
  for (const { heading, rows } of groups) {
    table.push([{ colSpan: columns.length, content: heading }], ...rows);
  }
  return table.toString();
}

function alignmentOf(columns: string[], words: string[]): ('left' | 'right')[] {
  return columns.map((column) => (words.includes(column) ? 'left' : 'right'));
}

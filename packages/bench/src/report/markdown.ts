import { toLine } from './printable.ts';
import type { View } from './view.ts';

/** Renders a view as Markdown: the setting, a table for each rung, then the notes. */
export function renderMarkdown(view: View): string {
  const alignment = view.columns.map((column) => (view.words.includes(column) ? '---' : '---:'));
  const tables = view.groups.flatMap(({ heading, rows }) => [
    `**${heading}**`,
    '',
    toRow(view.columns),
    toRow(alignment),
    ...rows.map(toRow),
    '',
  ]);
  const setting = view.setting.map((line) => `- ${toLine(line)}`);
  const notes = view.notes.map((note) => `- ${escapeCell(note)}`);
  return [...setting, '', ...tables, ...notes, ''].join('\n');
}

function toRow(cells: string[]): string {
  return `| ${cells.map(escapeCell).join(' | ')} |`;
}

function escapeCell(text: string): string {
  return toLine(text).replaceAll('|', '\\|');
}

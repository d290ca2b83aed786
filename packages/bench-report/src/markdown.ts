import { toLine } from './printable.ts';
import { readSigns, type Closing, type View } from './content.ts';

/** Renders a view as Markdown: the outcome, the setting, a table for each rung, then the notes. */
export function renderMarkdown(view: View): string {
  const tables = tablesInMarkdown(view);
  const beside = (view.beside ?? []).flatMap((table) => [
    `### ${escapeCell(table.title)}`,
    '',
    ...tablesInMarkdown(table),
    ...listInMarkdown(table.notes),
    '',
  ]);
  const setting = listInMarkdown(view.setting);
  if (setting.length > 0) setting.push('');
  const signs = readSigns(view).join(' ');
  const notes = listInMarkdown([...(signs === '' ? [] : [signs]), ...view.notes]);
  return [...closingInMarkdown(view.closing), ...setting, ...tables, ...notes, '', ...beside].join('\n');
}

/** Returns the lines of a sentence with a command; none without one. */
export function closingInMarkdown(closing: Closing | undefined): string[] {
  return closing === undefined ? [] : [`${escapeCell(closing.sentence)}: ${toCode(closing.command)}`, ''];
}

/** Returns a text as code, whatever backticks it holds. */
function toCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `\`${text}\`` : `${fence} ${text} ${fence}`;
}

/** Returns the lines of the tables of a view: one for each group, below its heading. */
function tablesInMarkdown({ groups, columns, words }: Pick<View, 'groups' | 'columns' | 'words'>): string[] {
  return groups.flatMap(({ heading, rows }) => [
    `**${escapeCell(heading)}**`,
    '',
    ...tableInMarkdown(columns, rows, words),
    '',
  ]);
}

/** Returns the lines of a table in Markdown. Columns outside `words` are right-aligned. */
export function tableInMarkdown(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  words: readonly string[] = head,
): string[] {
  const alignment = head.map((column) => (words.includes(column) ? '---' : '---:'));
  return [head, alignment, ...rows].map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`);
}

function listInMarkdown(notes: readonly string[]): string[] {
  return notes.map((note) => `- ${escapeCell(note)}`);
}

/** A target on a runtime, outside of code. */
const ON_RUNTIME = /(?<![`\w@/])[\w./+-]*\w@[\w.+/{}=]*[\w+}]/g;

/** Returns a text for a cell or a line. Targets such as `fastapi@3.14` are code: they would be addresses of mail. */
function escapeCell(text: string): string {
  return toLine(text).replaceAll('|', '\\|').replaceAll(ON_RUNTIME, '`$&`');
}

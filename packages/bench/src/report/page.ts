import { toLine } from './printable.ts';
import type { View } from './view.ts';

/** Draws the figures of a view; prose wraps at `width` columns. */
type Draw = (view: View, width: number) => string;

/**
 * Lays a view out as a page of text. Omits as many expendable columns as needed to fit `width` columns, and names the
 * omitted ones in a line below.
 */
export function layOut(view: View, width: number, draw: Draw): string {
  const { text, omitted } = narrow(view, width, draw);
  const lines = [
    ...(omitted.length > 0
      ? [`omitted to fit ${width} columns: ${omitted.join(', ')}; --detail shows every column.`]
      : []),
    ...(view.knees === undefined ? [] : [view.knees]),
    ...view.notes,
  ];
  return [
    view.title,
    ...view.setting.map((line) => wrap(`  ${toLine(line)}`, width)),
    text,
    ...lines.map((line) => wrap(`  ${toLine(line)}`, width)),
    '',
  ].join('\n');
}

function narrow(view: View, width: number, draw: Draw): { text: string; omitted: string[] } {
  for (let count = 0; ; count++) {
    const omitted = view.expendable.slice(0, count);
    const text = draw(without(view, omitted), width);
    const widest = Math.max(...text.split('\n').map((line) => line.length));
    if (widest <= width || count === view.expendable.length) return { text, omitted };
  }
}

function without(view: View, omitted: string[]): View {
  const isKept = (_: string, index: number): boolean => !omitted.includes(view.columns[index] ?? '');
  return {
    ...view,
    columns: view.columns.filter(isKept),
    groups: view.groups.map(({ heading, rows }) => ({
      heading,
      rows: rows.map((row) => row.filter(isKept)),
    })),
  };
}

/** Breaks a line between words at `width` columns, and indents the following lines by four. */
export function wrap(line: string, width: number): string {
  const [first = '', ...words] = line.split(/(?<=\S) /);
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length > width) lines.push(`    ${word}`);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}

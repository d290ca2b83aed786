import { toLine } from './printable.ts';
import type { View } from './view.ts';

/** Draws the figures of a view; what it says in prose keeps within `width` columns. */
type Draw = (view: View, width: number) => string;

/**
 * A view as a page of text: its figures as `draw` gives them, without as many of the expendable columns as it takes
 * to keep within `width` columns, and a line that says which those are.
 */
export function layOut(view: View, width: number, draw: Draw): string {
  const { text, leftOut } = narrow(view, width, draw);
  const lines = [
    ...(leftOut.length > 0
      ? [`left out to fit ${width} columns: ${leftOut.join(', ')}; --detail shows every column.`]
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

function narrow(view: View, width: number, draw: Draw): { text: string; leftOut: string[] } {
  for (let count = 0; ; count++) {
    const leftOut = view.expendable.slice(0, count);
    const text = draw(without(view, leftOut), width);
    const widest = Math.max(...text.split('\n').map((line) => line.length));
    if (widest <= width || count === view.expendable.length) return { text, leftOut };
  }
}

function without(view: View, leftOut: string[]): View {
  const isKept = (_: string, index: number): boolean => !leftOut.includes(view.columns[index] ?? '');
  return {
    ...view,
    columns: view.columns.filter(isKept),
    groups: view.groups.map(({ heading, rows }) => ({
      heading,
      rows: rows.map((row) => row.filter(isKept)),
    })),
  };
}

/** A line broken between words where it would pass `width` columns; what follows stands four columns in. */
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

import Table from 'cli-table3';
import { sum } from 'bench-statistics/numbers';
import { layOut, type Layout } from './page.ts';
import { widthOf } from './width.ts';
import type { Paint } from './paint.ts';
import type { View } from './content.ts';

/** Renders plain rows without a frame, at most `width` columns wide if possible. Columns outside `words` are right-aligned. */
export function renderRows(head: string[], rows: string[][], words = head, width = Infinity): string {
  const none = Object.fromEntries(FRAME.map((part) => [part, '']));
  const widths = fitColumns([head, ...rows], width - GAP.length * (head.length - 1));
  const table = new Table({
    head,
    colAligns: alignmentOf(head, words),
    colWidths: widths,
    wordWrap: true,
    chars: { ...none, middle: GAP },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows);
  return table.toString();
}

/** Between two columns without a frame. */
const GAP = '  ';

/** No column is broken into lines narrower than this. */
const NARROWEST = 8;

/** Returns the width of each column: that of its longest cell, or less in the widest ones if all of them are too wide. */
function fitColumns(rows: readonly (readonly string[])[], room: number): number[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(1, ...rows.map((cells) => widthOf(cells[column] ?? ''))),
  );
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
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

/** Renders a view for a terminal. */
export function renderTerminal(view: View, layout: Layout = {}): string {
  return layOut(view, layout, drawTable);
}

/** The frame and the padding of a table take this much for each column, and 1 more. */
const FRAME_COLUMNS = 3;

/** Draws the table of a view. A table of many targets in columns is drawn in parts that fit. */
function drawTable(view: View, width: number, paint: Paint): string {
  const parts = view.repeated === undefined ? [view] : splitColumns(view, view.repeated, width);
  return parts.map((part) => drawFramed(part, width, paint)).join('\n');
}

/** Splits a view into parts that fit, each with the first `repeated` columns. */
function splitColumns(view: View, repeated: number, width: number): View[] {
  const { columns, groups } = view;
  const widths = fitColumns([columns, ...groups.flatMap(({ rows }) => rows)], Infinity).map(
    (own) => own + FRAME_COLUMNS,
  );
  const room = width - 1 - sum(widths.slice(0, repeated));
  const parts: number[][] = [];
  let left = 0;
  for (let column = repeated; column < columns.length; column++) {
    const own = widths[column] ?? 0;
    const part = parts.at(-1);
    if (part === undefined || own > left) {
      parts.push([column]);
      left = room - own;
    } else {
      part.push(column);
      left -= own;
    }
  }
  const first = Array.from({ length: repeated }, (_, column) => column);
  const pick = (cells: readonly string[], part: readonly number[]): string[] =>
    [...first, ...part].map((column) => cells[column] ?? '');
  return (parts.length === 0 ? [[]] : parts).map((part) => ({
    ...view,
    columns: pick(columns, part),
    groups: groups.map(({ heading, rows }) => ({ heading, rows: rows.map((cells) => pick(cells, part)) })),
  }));
}

function drawFramed({ columns, words, groups }: View, width: number, paint: Paint): string {
  const widths = fitColumns(
    [columns, ...groups.flatMap(({ rows }) => rows)],
    width - 1 - FRAME_COLUMNS * columns.length,
  );
  const table = new Table({
    head: columns.map((column) => paint('strong', column)),
    style: { head: [], border: [], compact: true },
    colAligns: alignmentOf(columns, words),
    // Each has a space on both sides.
    colWidths: widths.map((own) => own + 2),
    wordWrap: true,
  });
  for (const { heading, rows } of groups) {
    table.push(
      [{ colSpan: columns.length, content: paint('strong', heading) }],
      ...rows.map((row) => row.map((cell) => paintCell(cell, paint))),
    );
  }
  return table.toString().replaceAll(/[─│┌┐└┘├┤┬┴┼]+/g, (frame) => paint('faint', frame));
}

/** Colours a cell by what it says of its row. */
function paintCell(cell: string, paint: Paint): string {
  if (/\bfailed$/.test(cell)) return paint('bad', cell);
  if (/\bsuspect$|^≥ /.test(cell)) return paint('doubtful', cell);
  return cell.endsWith(' ?') ? paint('faint', cell) : cell;
}

function alignmentOf(columns: string[], words: string[]): ('left' | 'right')[] {
  return columns.map((column) => (words.includes(column) ? 'left' : 'right'));
}

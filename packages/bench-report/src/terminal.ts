/** Views as text on a terminal. */
import Table from 'cli-table3';
import { sum } from 'bench-statistics/numbers';
import { readSigns, type Closing, type View } from './content.ts';
import { VERDICTS, type Verdict } from 'bench-model/options';
import { plain, type Paint, type Style } from './paint.ts';
import { toLine, toOutput } from './printable.ts';
import { widthOf, wrap } from './width.ts';

/** The layout of a page of text. */
export interface Layout {
  /** The columns of the terminal; by default unlimited. */
  width?: number;
  /** The most lines of notes; by default unlimited. */
  noteLines?: number;
  paint?: Paint;
}

/** The part of a view that is a table. */
type Drawn = Pick<View, 'title' | 'columns' | 'words' | 'expendable' | 'repeated' | 'groups' | 'isPlain'>;

/**
 * Renders a view as a page of text, which is safe to show. Omits as many expendable columns as needed to fit the terminal,
 * and names the omitted ones in a line below.
 */
export function renderTerminal(
  shown: View,
  { width = Infinity, noteLines = Infinity, paint = plain }: Layout = {},
): string {
  const whole = clean(shown);
  const shared = listShared(whole);
  const view = without(whole, [...shared.keys()]);
  const brief = noteLines === Infinity ? undefined : view.brief;
  const { beside = [], closing } = view;
  const { narrowed, omitted } = narrow(view, width);
  const indent = (line: string): string => wrap(`  ${line}`, width);
  const columns = [...narrowed.columns, ...shared.keys()];
  const signs = readSigns({ ...narrowed, columns, signs: view.signs });
  const notes = [
    ...(shared.size > 0 ? [`In each row: ${[...shared].map((one) => one.join(' ')).join(', ')}`] : []),
    ...omitted,
    ...(brief?.notes ?? []),
    ...(signs.length > 0 ? [signs.join(' ')] : []),
    ...view.notes,
  ];
  return [
    paint('strong', wrap(view.title, width)),
    ...(brief?.setting ?? view.setting).map(indent),
    draw(narrowed, width, paint),
    ...beside
      .map((table) => narrow(table, width))
      .flatMap((table) => [
        '',
        paint('strong', table.narrowed.title),
        draw(table.narrowed, width, paint),
        ...[...table.omitted, ...table.narrowed.notes].map(indent),
        '',
      ]),
    ...limit(notes.map(indent), noteLines),
    ...(closing === undefined ? [] : [renderClosing(closing, { width, paint })]),
    '',
  ]
    .join('\n')
    .replaceAll(JOINT, ' ');
}

/** Stands for a blank at which no line is broken. */
const JOINT = '\uE000';

/** Keeps the intervals in a text in one piece, as in `+21 % (+15 % to +28 %)`. */
function joinIntervals(text: string): string {
  return text.replaceAll(/\([+−≥]?\d[^()]* to [^()]*\)/g, (interval) => interval.replaceAll(' ', JOINT));
}

/** Renders the last sentence of a report, below an empty line. Its command stays on one line, so that it can be copied. */
export function renderClosing(
  { sentence, command }: Closing,
  { width = Infinity, paint = plain }: Layout,
): string {
  const lines = wrap(joinIntervals(toOutput(`${sentence}:`)), width)
    .replaceAll(JOINT, ' ')
    .split('\n');
  const shown = toOutput(command);
  const last = `${lines.at(-1)} ${shown}`;
  const laidOut = last.length <= width ? [...lines.slice(0, -1), last] : [...lines, `    ${shown}`];
  return ['', ...laidOut.map((line) => paint('strong', line))].join('\n');
}

/** Returns a value whose texts are safe to show on one line each. */
function clean<T>(value: T): T {
  if (typeof value === 'string') return joinIntervals(toOutput(toLine(value))) as T;
  if (Array.isArray(value)) return value.map(clean) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, clean(inside)])) as T;
}

function rowsOf({ groups }: Pick<View, 'groups'>): string[][] {
  return groups.flatMap(({ rows }) => rows);
}

/** Returns the columns that say the same in each row, with what they say. */
function listShared({ columns, shareable = [], groups }: View): Map<string, string> {
  const [first = [], ...others] = groups.flatMap(({ rows }) => rows);
  const cells = columns.map((column, place) => [column, first[place] ?? ''] as const);
  return new Map(
    cells.filter(
      ([column, cell], place) => shareable.includes(column) && others.every((row) => row[place] === cell),
    ),
  );
}

function linesOf(texts: readonly string[]): number {
  return texts.join('\n').split('\n').length;
}

/** Keeps the first notes that fit a number of lines, and counts the others. */
function limit(notes: readonly string[], most: number): string[] {
  if (notes.length === 0 || linesOf(notes) <= most) return [...notes];
  let kept = notes.length - 1;
  while (kept > 0 && linesOf(notes.slice(0, kept)) >= most) kept--;
  return [...notes.slice(0, kept), `  ${notes.length - kept} more notes: --detail shows them.`];
}

/**
 * Omits columns until a table fits, the most expendable first; then returns those that still have room. `omitted` names
 * them in a line; it is empty if there are none.
 */
function narrow<T extends Drawn>(table: T, width: number): { narrowed: T; omitted: string[] } {
  // A table that may be split needs no column omitted.
  const present =
    table.repeated === undefined ? table.expendable.filter((column) => table.columns.includes(column)) : [];
  const fits = (omitted: readonly string[]): boolean =>
    widthOf(draw(without(table, omitted), Infinity, plain)) <= width;
  let count = 0;
  while (count < present.length && !fits(present.slice(0, count))) count++;
  let omitted = present.slice(0, count);
  for (const column of omitted.toReversed()) {
    const fewer = omitted.filter((one) => one !== column);
    if (fits(fewer)) omitted = fewer;
  }
  return {
    narrowed: without(table, omitted),
    omitted:
      omitted.length > 0 ? [`Omitted to fit ${width} columns: ${omitted.join(', ')}; see --detail.`] : [],
  };
}

function without<T extends Drawn>(table: T, omitted: readonly string[]): T {
  const kept = table.columns.flatMap((column, index) => (omitted.includes(column) ? [] : [index]));
  return pick(table, kept);
}

/** Returns a table with the columns at these places. */
function pick<T extends Drawn>(table: T, places: readonly number[]): T {
  const choose = (cells: readonly string[]): string[] => places.map((place) => cells[place] ?? '');
  return {
    ...table,
    columns: choose(table.columns),
    groups: table.groups.map((group) => ({ ...group, rows: group.rows.map(choose) })),
  };
}

/** Draws a table, at most `width` columns wide if possible. One of many targets in columns is drawn in parts that fit. */
function draw(table: Drawn, width: number, paint: Paint): string {
  if (table.isPlain) return renderRows(table.columns, paintRows(rowsOf(table), paint), table.columns, width);
  const parts = table.repeated === undefined ? [table] : splitColumns(table, table.repeated, width);
  return parts.map((part) => drawFramed(part, width, paint)).join('\n');
}

/** The frame and the padding of a table take this much for each column, and 1 more. */
const FRAME_COLUMNS = 3;

/** Splits a table into parts that fit, each with the first `repeated` columns. */
function splitColumns(table: Drawn, repeated: number, width: number): Drawn[] {
  const { columns } = table;
  const widths = fitColumns([columns, ...rowsOf(table)], Infinity).map((own) => own + FRAME_COLUMNS);
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
  return (parts.length === 0 ? [[]] : parts).map((part) => pick(table, [...first, ...part]));
}

function drawFramed(drawn: Drawn, width: number, paint: Paint): string {
  const { columns, words, groups } = drawn;
  const widths = fitColumns([columns, ...rowsOf(drawn)], width - 1 - FRAME_COLUMNS * columns.length);
  const table = new Table({
    head: columns.map((column) => paint('strong', column)),
    style: { head: [], border: [], compact: true },
    colAligns: alignmentOf(columns, words),
    // Each has a space on both sides.
    colWidths: widths.map((own) => own + 2),
    wordWrap: true,
  });
  for (const { heading, rows } of groups) {
    table.push([{ colSpan: columns.length, content: paint('strong', heading) }], ...paintRows(rows, paint));
  }
  return table.toString().replaceAll(/[─│┌┐└┘├┤┬┴┼]+/g, (frame) => paint('faint', frame));
}

/** Colours the cells by what they say of their rows. */
function paintRows(rows: string[][], paint: Paint): string[][] {
  return rows.map((row) => row.map((cell) => paintCell(cell, paint)));
}

function paintCell(cell: string, paint: Paint): string {
  const verdict = VERDICT.exec(cell)?.[0] as Verdict | undefined;
  if (verdict !== undefined) return paint(OF_VERDICT[verdict], cell);
  if (/\bfailed$/.test(cell)) return paint('bad', cell);
  if (/\bsuspect$|^≥ /.test(cell)) return paint('doubtful', cell);
  return cell.endsWith(' ?') ? paint('faint', cell) : cell;
}

/** The styles of the verdicts. */
export const OF_VERDICT: Record<Verdict, Style> = {
  slower: 'bad',
  faster: 'good',
  same: 'faint',
  undecided: 'faint',
};

const VERDICT = new RegExp(String.raw`^(?:${VERDICTS.join('|')})(?=\b.*:)`);

function alignmentOf(columns: string[], words: string[]): ('left' | 'right')[] {
  return columns.map((column) => (words.includes(column) ? 'left' : 'right'));
}

/** Renders plain rows without a frame, at most `width` columns wide if possible. Columns outside `words` are right-aligned. */
export function renderRows(head: string[], rows: string[][], words = head, width = Infinity): string {
  const widths = fitColumns([head, ...rows], width - GAP.length * (head.length - 1));
  const table = new Table({
    head,
    colAligns: alignmentOf(head, words),
    colWidths: widths,
    wordWrap: true,
    chars: { ...NO_FRAME, middle: GAP },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows);
  return table.toString();
}

const NO_FRAME = Object.fromEntries(Object.keys(new Table().options.chars).map((part) => [part, '']));

/** Between two columns without a frame. */
const GAP = '  ';

/** No column is broken into lines narrower than this. */
const NARROWEST = 8;

/** Returns the width of each column: that of its longest cell, or less in the widest ones if all of them are too wide. */
function fitColumns(rows: readonly (readonly string[])[], room: number): number[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(1, ...rows.map((cells) => widthOf(cells[column] ?? ''))),
  );
  // An interval and a name in the head stay on one line.
  const least = widths.map((_, column) =>
    Math.max(
      NARROWEST,
      ...rows.flatMap((cells, row) =>
        (cells[column]?.split(' ') ?? []).filter((word) => row === 0 || word.includes(JOINT)).map(widthOf),
      ),
    ),
  );
  const spare = (column: number): number => (widths[column] ?? 0) - (least[column] ?? 0);
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const wide = widths.flatMap((width, column) => (spare(column) > 0 ? [width] : []));
    if (wide.length === 0) break;
    const widest = widths.findIndex((width, column) => width === Math.max(...wide) && spare(column) > 0);
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

import type { Closing, ScalingView, View } from './content.ts';
import { readSigns } from './notes.ts';
import { plain, type Paint } from './paint.ts';
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

/** Draws the figures of a view, at most `width` columns wide if possible. */
type Draw = (view: View, width: number, paint: Paint) => string;

/**
 * Lays a view out as a page of text, which is safe to show. Omits as many expendable columns as needed to fit the
 * terminal, and names the omitted ones in a line below.
 */
export function layOut(
  shown: View,
  { width = Infinity, noteLines = Infinity, paint = plain }: Layout,
  draw: Draw,
): string {
  const view = clean(shown);
  const { narrowed, omitted } = narrow(view, width, draw);
  const signs = readSigns(narrowed);
  const notes = [
    ...(omitted.length > 0 ? [`omitted to fit ${width} columns: ${omitted.join(', ')}; see --detail.`] : []),
    ...(signs.length > 0 ? [signs.join(' ')] : []),
    ...view.notes,
  ];
  const { courses = [], closing } = view;
  return [
    paint('strong', view.title),
    ...view.setting.map((line) => wrap(`  ${line}`, width)),
    draw(narrowed, width, paint),
    ...(view.scaling === undefined ? [] : layOutScaling(view, view.scaling, { width, paint }, draw)),
    ...courses.map((line, index) => wrap(`  ${index === 0 ? '' : '  '}${line}`, width)),
    ...limit(
      notes.map((line) => wrap(`  ${line}`, width)),
      noteLines,
    ),
    ...(closing === undefined ? [] : [renderClosing(closing, { width, paint })]),
    '',
  ].join('\n');
}

/** Lays out the scaling of servers: a heading, the table, and its notes. */
function layOutScaling(
  view: View,
  scaling: ScalingView,
  { width = Infinity, paint = plain }: Layout,
  draw: Draw,
): string[] {
  const { repeated: _, ...rest } = view;
  const { narrowed, omitted } = narrow({ ...rest, ...scaling }, width, draw);
  const notes = [
    ...(omitted.length > 0 ? [`omitted to fit ${width} columns: ${omitted.join(', ')}; see --detail.`] : []),
    ...scaling.notes,
  ];
  return [
    '',
    paint('strong', scaling.title),
    draw(narrowed, width, paint),
    ...notes.map((line) => wrap(`  ${line}`, width)),
    '',
  ];
}

/** Renders the last sentence of a report, below an empty line. Its command stays on one line, so that it can be copied. */
export function renderClosing(
  { sentence, command }: Closing,
  { width = Infinity, paint = plain }: Layout,
): string {
  const lines = wrap(toOutput(`${sentence}:`), width).split('\n');
  const shown = toOutput(command);
  const last = `${lines.at(-1)} ${shown}`;
  const laidOut = last.length <= width ? [...lines.slice(0, -1), last] : [...lines, `    ${shown}`];
  return ['', ...laidOut.map((line) => paint('strong', line))].join('\n');
}

function toSafe(texts: readonly string[]): string[] {
  return texts.map((text) => toOutput(toLine(text)));
}

/** Returns a view whose texts are safe to show on one line each. */
function clean(view: View): View {
  const { setting, scaling, courses, signs } = view;
  return {
    ...view,
    ...cleanTable(view),
    setting: toSafe(setting),
    ...(scaling && { scaling: cleanTable(scaling) }),
    ...(courses && { courses: toSafe(courses) }),
    signs: signs.map((sign) => ({
      ...sign,
      ...(sign.column !== undefined && { column: toOutput(sign.column) }),
      text: toOutput(sign.text),
    })),
  };
}

type Cleaned = Pick<View, 'title' | 'columns' | 'words' | 'expendable' | 'groups' | 'notes'>;

function cleanTable<T extends Cleaned>(table: T): T {
  const { title, columns, words, expendable, groups, notes } = table;
  return {
    ...table,
    title: toOutput(title),
    columns: toSafe(columns),
    words: toSafe(words),
    expendable: toSafe(expendable),
    groups: groups.map((group) => ({
      ...group,
      heading: toOutput(group.heading),
      rows: group.rows.map(toSafe),
    })),
    notes: toSafe(notes),
  };
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

/** Omits columns until the table fits, the most expendable first; then returns those that still have room. */
function narrow(view: View, width: number, draw: Draw): { narrowed: View; omitted: string[] } {
  // A table that may be split needs no column omitted.
  if (view.repeated !== undefined) return { narrowed: view, omitted: [] };
  const fits = (omitted: readonly string[]): boolean =>
    widthOf(draw(without(view, omitted), Infinity, plain)) <= width;
  const present = view.expendable.filter((column) => view.columns.includes(column));
  let count = 0;
  while (count < present.length && !fits(present.slice(0, count))) count++;
  let omitted = present.slice(0, count);
  for (const column of omitted.toReversed()) {
    const fewer = omitted.filter((one) => one !== column);
    if (fits(fewer)) omitted = fewer;
  }
  return { narrowed: without(view, omitted), omitted };
}

function without(view: View, omitted: readonly string[]): View {
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

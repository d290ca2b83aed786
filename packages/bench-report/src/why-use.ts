/** What requests take and cause, and where they wait, as a table and in words. */
import {
  changedPlaces,
  changedStatements,
  changedTimes,
  compareUse,
  type ChangedPart,
  type ChangedUse,
  type Sides,
  type UseName,
} from 'bench-analysis/why/use';
import type { Hunk, Statement, Wait, WhyFile } from 'bench-model/why';
import { viewTable, type View } from './content.ts';
import { formatCost, formatMargin } from './format.ts';

/** The statements, and the lines, that sentences name. */
const MOST_NAMED = 2;
/** Longer statements and lines are cut. */
const MOST_CHARACTERS = 90;

const LABELS: Record<UseName, string> = {
  statements: 'statements per request',
  fetches: 'requests to the upstream per request',
  connections: 'connections opened per request',
  calls: 'system calls per request',
  writes: 'writes per request',
  bytes: 'bytes written per request',
  threads: 'threads',
  collections: 'garbage collections per 1,000 requests',
  collectingUs: 'µs of garbage collections per request',
};

/** What both sides of a pair cause, as a table and in sentences: statements and waits, which CPU follows from or does not explain, and the other counts. */
export function viewCaused(
  { connections, hunks }: Pick<WhyFile, 'connections'> & { hunks: readonly Hunk[] },
  ...sides: Sides
): { use: View; causes: string[]; counts: string[] } {
  const uses = compareUse(...sides);
  const causes = [
    ...describeStatements(uses, named(changedStatements(sides))),
    ...named(changedPlaces(sides, connections, hunks)).map(describePlace),
    ...named(changedTimes(sides, connections)).map(describeTime),
  ];
  return { use: viewUse(uses), causes, counts: describeUse(uses) };
}

/** Returns the largest changes, all in the direction of the first. */
function named<One extends { difference: number }>(all: readonly One[]): One[] {
  const [first] = all;
  const alike = all.filter((one) => Math.sign(one.difference) === Math.sign(first?.difference ?? 0));
  return alike.slice(0, MOST_NAMED);
}

/** Renders the figures on both sides. */
export function viewUse(uses: readonly ChangedUse[]): View {
  const rows = uses.map(({ name, before, after, difference, margin }) => [
    LABELS[name],
    formatPer(before),
    formatPer(after),
    formatMargin(difference, margin, formatPer),
  ]);
  const columns = ['count', 'before', 'after', 'difference (95 % interval)'];
  const isCounted = uses.some(({ name }) => name === 'writes');
  const note = isCounted
    ? 'System calls are counted under strace, which slows the server down; all else without a profiler'
    : 'System calls were not counted: strace is missing, or not permitted';
  const notes = rows.length === 0 ? [] : [note];
  return viewTable({ title: 'what requests cause', columns, rows, notes }, columns.slice(1));
}

/** `Each request waits 4.2 ms for a timer at main.py:12 (await asyncio.sleep(0.004), in sleep) instead of 0.1.` */
export function describePlace({ part, before, after }: ChangedPart<Wait>): string {
  const within = part.in === undefined ? '' : `, in ${part.in}`;
  const what = part.for === undefined ? '' : `for ${part.for} `;
  return describeWait(`${what}at ${part.file}:${part.line} (\`${cut(part.code)}\`${within})`, before, after);
}

/** `Each request waits 4.1 ms in the database for SELECT pg_sleep(?) instead of 0.1.` */
export function describeTime({ part, before, after }: ChangedPart<Statement>): string {
  return describeWait(`in the database for \`${cut(part.text)}\``, before, after);
}

function describeWait(where: string, before: number, after: number): string {
  return isNone(after)
    ? `No request waits any longer ${where}: ${formatPer(before)} ms before.`
    : `Each request waits ${formatPer(after)} ms ${where}${insteadOf(before)}.`;
}

/** `Each request sends 21 statements instead of 2: 20 × SELECT … FROM book WHERE author_id = ?, instead of 1.` */
export function describeStatements(
  uses: readonly ChangedUse[],
  changed: readonly ChangedPart<Statement>[],
): string[] {
  const all = uses.find(({ name }) => name === 'statements');
  if (all === undefined || changed.length === 0) return [];
  const each = changed.map(({ part, before, after }) =>
    isNone(after)
      ? `\`${cut(part.text)}\` no more`
      : `${formatTimes(after)} × \`${cut(part.text)}\`${insteadOf(before)}`,
  );
  const sent = formatTimes(all.after);
  const noun = sent === '1' ? 'statement' : 'statements';
  return [
    `Each request sends ${sent} ${noun}${all.isClear ? insteadOf(all.before) : ''}: ${each.join(', ')}.`,
  ];
}

/** Describes the other counts that clearly differ. System calls follow from statements, and from requests to the upstream. */
export function describeUse(uses: readonly ChangedUse[]): string[] {
  const clear = uses.filter(({ name, isClear }) => isClear && !name.endsWith('Us'));
  const isCaused = clear.some(({ name }) => name === 'statements' || name === 'fetches');
  const told = clear.filter(
    ({ name }) => name !== 'statements' && !(isCaused && ['calls', 'writes', 'bytes'].includes(name)),
  );
  const counts = told.map(
    ({ name, before, after }) => `${LABELS[name]} ${formatTimes(before)} → ${formatTimes(after)}`,
  );
  return counts.length === 0 ? [] : [`Also changed: ${counts.join(', ')}.`];
}

/** Returns true for what a table shows as 0.00. */
function isNone(figure: number): boolean {
  return figure < 0.005;
}

function insteadOf(before: number): string {
  return ` instead of ${isNone(before) ? 'none' : formatTimes(before)}`;
}

/** `21` for 20.99, `1.84`. */
function formatTimes(figure: number): string {
  const whole = Math.round(figure);
  return Math.abs(figure - whole) <= 0.01 * figure ? whole.toLocaleString('en-US') : formatPer(figure);
}

/** Returns a statement without its list of columns, or a line, cut to a length that can be read. */
function cut(text: string): string {
  const short = text.replace(/^(SELECT) .{30,}? (FROM) /i, '$1 … $2 ');
  return short.length > MOST_CHARACTERS ? `${short.slice(0, MOST_CHARACTERS - 1)}…` : short;
}

/** `0.04`, `4.00`, `1,001`. */
function formatPer(figure: number): string {
  return figure < 9.995 ? figure.toFixed(2) : formatCost(figure);
}

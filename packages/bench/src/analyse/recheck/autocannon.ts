/** Reads the output of autocannon line by line, and turns each line into fields. */

import { BenchError } from '../../errors.ts';
import { parseBytes, parseFigure, parseTotal, type RoundedBytes, type RoundedTotal } from './figures.ts';

/** A row of the latency table, in whole or averaged milliseconds. Columns that were cut off are absent. */
export interface LatencyRow {
  average: number;
  p2_5?: number;
  p50?: number;
  p97_5?: number;
  p99?: number;
  stdev?: number;
  max?: number;
}

/** The requests counted per timer tick. Autocannon heads the row `Req/Sec`. */
export interface RequestRow {
  average: number;
  p1?: number;
  p2_5?: number;
  p50?: number;
  p97_5?: number;
  stdev?: number;
  min?: number;
}

/** One autocannon test as printed in a text; fields that the text lacks are absent. */
export interface PrintedTest {
  /** The line where it begins. */
  line: number;
  /** The summary or heading above it. */
  title?: string;
  url?: string;
  warmup?: true;
  /** The requested duration, or (`amount`) the requested number of requests. */
  nominalSeconds?: number;
  amount?: number;
  connections?: number;
  pipelining?: number;
  workers?: number;
  latencyMs?: LatencyRow;
  requests?: RequestRow;
  bytesAverage?: RoundedBytes;
  /** The intended length of a tick. */
  tickSeconds?: number;
  samples?: number;
  /** Exact; printed only if some answers were not 2xx. */
  responses?: { ok: number; other: number };
  sent?: RoundedTotal;
  elapsedSeconds?: number;
  bytesRead?: RoundedBytes;
  errors?: RoundedTotal;
  timeouts?: RoundedTotal;
  mismatches?: RoundedTotal;
}

/** The fields that one line adds to a test. */
export interface LineOfTest {
  fields: Partial<Omit<PrintedTest, 'line' | 'title'>>;
  /** True if a test can begin with this line. Otherwise the line belongs to an earlier test, or is prose. */
  begins: boolean;
}

const COLUMNS = {
  latency: ['Stat', '2.5%', '50%', '97.5%', '99%', 'Avg', 'Stdev', 'Max'],
  requests: ['Stat', '1%', '2.5%', '50%', '97.5%', 'Avg', 'Stdev', 'Min'],
};

const FIELDS: Record<string, string> = {
  '1%': 'p1',
  '2.5%': 'p2_5',
  '50%': 'p50',
  '97.5%': 'p97_5',
  '99%': 'p99',
  Avg: 'average',
  Stdev: 'stdev',
  Max: 'max',
  Min: 'min',
};

const MS_PER_UNIT: Record<string, number> = { µs: 0.001, us: 0.001, ms: 1, s: 1000 };

/** The cells of a table row, drawn with `│` or `|`; undefined for any other line. */
export function cellsOf(bare: string): string[] | undefined {
  if (!/^[│|].*[│|]$/.test(bare)) return undefined;
  return bare
    .slice(1, -1)
    .split(/[│|]/)
    .map((cell) => cell.trim());
}

/**
 * Reads a line that has no quotation marks, colours or margins; undefined if it adds nothing to a test. `head` is the
 * last row of column names. Throws a usage error for a row without a readable average; `where` is its file:line.
 */
export function readLine(bare: string, where: string, head?: string[]): LineOfTest | undefined {
  const cells = cellsOf(bare);
  return cells === undefined ? readSentence(bare) : readRow(cells, where, head);
}

function readRow(cells: string[], where: string, head?: string[]): LineOfTest | undefined {
  const [name = ''] = cells;
  if (name === 'Latency') {
    const row = rowOf(cells, head ?? COLUMNS.latency, milliseconds);
    return { fields: { latencyMs: { ...row, average: needAverage(row, name, where) } }, begins: true };
  }
  if (name === 'Req/Sec') {
    const row = rowOf(cells, head ?? COLUMNS.requests, parseFigure);
    return { fields: { requests: { ...row, average: needAverage(row, name, where) } }, begins: true };
  }
  if (name === 'Bytes/Sec') {
    const bytesAverage = parseBytes(cells[(head ?? COLUMNS.requests).indexOf('Avg')] ?? '');
    return bytesAverage === undefined ? undefined : { fields: { bytesAverage }, begins: false };
  }
  return undefined;
}

function rowOf(
  cells: string[],
  head: string[],
  read: (cell: string) => number | undefined,
): Record<string, number> {
  const found = head.flatMap((column, index) => {
    const [field, value] = [FIELDS[column], read(cells[index] ?? '')];
    return field === undefined || value === undefined ? [] : [[field, value] as const];
  });
  return Object.fromEntries(found);
}

function milliseconds(cell: string): number | undefined {
  const [, digits, unit] = /^([\d.,]+) ?(µs|us|ms|s)$/.exec(cell) ?? [];
  const value = digits === undefined ? undefined : parseFigure(digits);
  const scale = MS_PER_UNIT[unit ?? ''];
  return value === undefined || scale === undefined ? undefined : value * scale;
}

function needAverage(row: Record<string, number>, name: string, where: string): number {
  const { average } = row;
  if (average !== undefined) return average;
  throw new BenchError(
    'usage',
    `${where}: the row ${name} has no readable average`,
    'paste the whole table as autocannon printed it, with its column Avg',
  );
}

type Sentence = readonly [pattern: RegExp, begins: boolean, read: (found: string[]) => LineOfTest['fields']];

const SENTENCES: readonly Sentence[] = [
  [
    /^Running (\d[\d.]*)s (test|warmup) @ (\S+)/,
    true,
    ([, seconds, kind, url = '']) => ({
      ...named('nominalSeconds', positive(seconds)),
      url,
      ...warmup(kind),
    }),
  ],
  [
    /^Running (\d+) requests (test|warmup) @ (\S+)/,
    true,
    ([, amount, kind, url = '']) => ({ amount: Number(amount), url, ...warmup(kind) }),
  ],
  [
    /^(\d+) connections?(?: with (\d+) pipelining factor)?$/,
    false,
    ([, connections, pipelining]) => ({
      connections: Number(connections),
      ...(pipelining === undefined ? {} : { pipelining: Number(pipelining) }),
    }),
  ],
  [/^(\d+) workers?$/, false, ([, workers]) => ({ workers: Number(workers) })],
  [/^Req\/Bytes counts sampled once per second/, false, () => ({ tickSeconds: 1 })],
  [
    /^Req\/Bytes counts sampled every (\d[\d.]*) seconds?/,
    false,
    ([, seconds]) => ({ tickSeconds: Number(seconds) }),
  ],
  [/^# of samples: (\d+)$/, false, ([, samples]) => ({ samples: Number(samples) })],
  [
    /^(\d+) 2xx responses, (\d+) non 2xx responses$/,
    false,
    ([, ok, other]) => ({ responses: { ok: Number(ok), other: Number(other) } }),
  ],
  [
    /^(\d[\d.,]*[kM]?) requests in (\d[\d.]*)s, (.+) read$/,
    true,
    ([, sent = '', seconds, read = '']) => ({
      ...named('sent', parseTotal(sent)),
      ...named('elapsedSeconds', positive(seconds)),
      ...named('bytesRead', parseBytes(read)),
    }),
  ],
  [
    /^(\d[\d.,]*[kM]?) errors \((\d[\d.,]*[kM]?) timeouts\)$/,
    false,
    ([, errors = '', timeouts = '']) => ({
      ...named('errors', parseTotal(errors)),
      ...named('timeouts', parseTotal(timeouts)),
    }),
  ],
  [
    /^(\d[\d.,]*[kM]?) requests with mismatched body$/,
    false,
    ([, mismatches = '']) => named('mismatches', parseTotal(mismatches)),
  ],
];

function readSentence(bare: string): LineOfTest | undefined {
  for (const [pattern, begins, read] of SENTENCES) {
    const found = pattern.exec(bare);
    if (found !== null) return { fields: read([...found]), begins };
  }
  return undefined;
}

/** Returns a number above 0, because a time of 0 cannot divide. */
function positive(digits: string | undefined): number | undefined {
  const value = Number(digits);
  return value > 0 ? value : undefined;
}

function warmup(kind: string | undefined): { warmup?: true } {
  return kind === 'warmup' ? { warmup: true } : {};
}

/** A field under its name, or no field if it could not be read. */
function named<K extends string, T>(name: K, value: T | undefined): { [key in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [key in K]?: T });
}

/** Files of rows: CSV with a header, or JSON lines. Each row fills in the placeholders of one request. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { orUndefined, UsageError } from 'bench-model/errors';
import type { UserRows } from 'bench-model/requests';
import { isPart, parseJson } from '../../json-file.ts';
import type { Values } from './template.ts';
import { sha256Of } from './texts.ts';

/** One row, and the line on which it ends. */
export interface Row {
  line: number;
  values: Values;
}

/** A file of rows. */
export interface Rows extends UserRows {
  rows: Row[];
}

const require = createRequire(import.meta.url);

const HINT = 'the first line of a CSV file names the columns; a .jsonl file has one JSON object per line';

/** Reads a file of rows. Throws a usage error with file and line if it is missing, empty or has an invalid row. */
export function readRows(file: string): Rows {
  const text = orUndefined(() => readFileSync(file, 'utf8'));
  if (text === undefined)
    throw new UsageError(
      `${file}: the file of rows cannot be read`,
      'e.g. "rows": "ids.csv" in the file of requests',
    );
  const isLines = ['.jsonl', '.ndjson', '.json'].includes(extname(file)) || text.trimStart().startsWith('{');
  const { names, rows } = isLines ? readLines(file, text) : readCsv(file, text);
  if (rows.length === 0) throw new UsageError(`${file}: the file has no rows`, HINT);
  return { file, count: rows.length, names, sha256: sha256Of(text), rows };
}

function readCsv(file: string, text: string): { names: string[]; rows: Row[] } {
  const records = parseCsv(file, text);
  const [head, ...others] = records;
  const names = head?.record.map((name) => name.trim()) ?? [];
  const twice = names.find((name, index) => name === '' || names.indexOf(name) !== index);
  if (twice !== undefined) {
    const problem = twice === '' ? 'a column has no name' : `two columns are named "${twice}"`;
    throw new UsageError(`${file}:1: ${problem}`, HINT);
  }
  const rows = others.map(({ record, line }): Row => {
    const { length } = record;
    if (length === names.length)
      return { line, values: Object.fromEntries(names.map((name, index) => [name, record[index] ?? ''])) };
    throw new UsageError(
      `${file}:${line}: the row has ${length} column${length === 1 ? '' : 's'}, but the header has ${names.length}`,
      'quote values that contain a comma',
    );
  });
  return { names, rows };
}

function parseCsv(file: string, text: string): { record: string[]; line: number }[] {
  // Loaded here: most runs have no such file.
  const { CsvError, parse } = require('csv-parse/sync') as typeof import('csv-parse/sync');
  try {
    const found = parse(text, {
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { record: string[]; info: { lines: number } }[];
    return found.map(({ record, info: { lines } }) => ({ record, line: lines }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    const problem = error.code.replace(/^CSV_/, '').replaceAll('_', ' ').toLowerCase();
    throw new UsageError(`${file}:${line}: not CSV: ${problem}`, HINT);
  }
}

function readLines(file: string, text: string): { names: string[]; rows: Row[] } {
  const rows = text.split('\n').flatMap((content, index): Row[] => {
    if (content.trim() === '') return [];
    const line = index + 1;
    const values = parseJson(content.replace(/^\uFEFF/, ''));
    if (isPart(values)) return [{ line, values }];
    throw new UsageError(`${file}:${line}: ${values === undefined ? 'not JSON' : 'not a JSON object'}`, HINT);
  });
  const names = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  for (const { line, values } of rows) {
    const missing = names.find((name) => !Object.hasOwn(values, name));
    if (missing === undefined) continue;
    throw new UsageError(`${file}:${line}: the row has no "${missing}"`, 'give every row the same fields');
  }
  return { names, rows };
}

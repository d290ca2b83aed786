import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { suggest } from 'bench-model/suggest';
import { BenchError, cureForFull, UsageError } from 'bench-model/errors';
import { HOME, makeProjectFolder, commandLine } from 'bench-machine/home';
import { parseJson } from 'bench-targets/catalogue/json-file';
import { RECORD_SCHEMA, RUN_SCHEMA } from 'bench-model/versions';
import { makeFolder, readTextFile, showPath } from 'bench-machine/files';
import { redact } from 'bench-machine/redact';
import type { Host } from 'bench-model/host';
import type { Trial } from 'bench-model/record';
import type { RunFile, Versions } from 'bench-model/run';
import { problemWith, type Stored } from './validate.ts';
import { sum } from 'bench-statistics/numbers';

export interface StoredRun extends RunFile {
  folder: string;
  host: Host;
  trials: Trial[];
}

/**
 * Creates the folder of a run with `run.json` and `host.json`. Throws a usage error if it cannot be written, or exists: its files
 * would be those of somebody else.
 */
export function createRun(run: RunFile, host: Host): string {
  const folder = join(HOME.results, run.plan.run);
  if (existsSync(folder))
    throw new UsageError(`${showPath(folder)} exists`, 'another run began in the same second: try again');
  try {
    makeProjectFolder();
    makeFolder(HOME.results);
    mkdirSync(folder);
  } catch (error) {
    throw unwritable(folder, error);
  }
  writeReport(folder, 'run.json', toText(redact(run)));
  writeReport(folder, 'host.json', toText(host));
  return folder;
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Adds to `run.json` the rounds after which the run was stopped. Does nothing if it has these already, as `kept`. */
export function keepStops(folder: string, stops: number[], kept: number[] = []): void {
  if (isDeepStrictEqual(kept, stops)) return;
  writeReport(folder, 'run.json', toText({ ...readRunFile(folder), stops }));
}

/** Appends trials to the run and returns once they are on disk. */
export function appendTrials(folder: string, trials: Trial[]): void {
  appendLines(join(folder, 'trials.jsonl'), trials);
}

/** Appends values to a file of JSON lines and returns once they are on disk. */
export function appendLines(file: string, values: readonly unknown[]): void {
  writeDurably(file, values.map((value) => `${JSON.stringify(redact(value))}\n`).join(''), 'a');
}

/** Stores a file beside its run. Replaces one that is there: a link in a received run could point anywhere. */
export function writeReport(folder: string, name: string, text: string): void {
  const draft = join(folder, `.${name}.${process.pid}`);
  rmSync(draft, { force: true });
  try {
    writeDurably(draft, text, 'wx');
    renameSync(draft, join(folder, name));
  } catch (error) {
    throw unwritable(join(folder, name), error);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Writes all of a text, or nothing of it: half a line would spoil the next one. Throws a usage error if it cannot. */
function writeDurably(file: string, text: string, mode: 'a' | 'wx'): void {
  try {
    const open = openSync(file, mode);
    const { size } = fstatSync(open);
    try {
      writeFileSync(open, text);
      fsyncSync(open);
    } catch (error) {
      ftruncateSync(open, size);
      throw error;
    } finally {
      closeSync(open);
    }
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** Explains why a file of a run cannot be written, unless the error does. */
function unwritable(path: string, error: unknown): BenchError {
  if (error instanceof BenchError) return error;
  const hint =
    cureForFull(error as NodeJS.ErrnoException) ?? `make ${showPath(dirname(path))} a writable folder`;
  return new UsageError(`${showPath(path)} cannot be written: ${(error as Error).message}`, hint);
}

const LATEST = 'latest';

const MOST_LISTED = 3;

/**
 * Returns the folder of a run: by id, by path, or by the word `latest` for the newest unpublished run. Throws a
 * usage error for an unknown run, with similar ids or else the newest ones.
 */
export function findRun(name: string): string {
  const newest = name === LATEST ? listRuns().at(-1) : undefined;
  const candidates = [
    name,
    join(HOME.results, name),
    join(HOME.results, 'published', name),
    ...(newest === undefined ? [] : [join(HOME.results, newest)]),
  ];
  const found = candidates.find((folder) => existsSync(join(folder, 'run.json')));
  if (found !== undefined) return found;
  throw new UsageError(
    name === LATEST ? `${showPath(HOME.results)} has no runs yet` : `unknown run "${name}"`,
    suggestRuns(name),
  );
}

function suggestRuns(name: string): string {
  const own = listRuns();
  const runs = [...own, ...listRuns(join(HOME.results, 'published'))];
  const similar = name === LATEST || runs.length === 0 ? undefined : suggest(name, [...runs, LATEST]);
  if (similar !== undefined) return similar;
  const newest = own.toReversed().slice(0, MOST_LISTED);
  if (newest.length > 0) return `the newest runs are ${newest.join(', ')}; latest means the first one`;
  const published = runs.slice(0, MOST_LISTED).join(', ');
  return runs.length > 0 && name !== LATEST
    ? `there are ${published}`
    : `${commandLine('bench')} creates one`;
}

/** Returns the ids of the runs in a folder, oldest first; published runs have their own folder. */
export function listRuns(folder = HOME.results): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'run.json')))
    .toSorted();
}

/** Returns the size of all files below a folder in bytes; 0 if it does not exist. Files that vanish meanwhile count 0. */
export function sizeOf(folder: string): number {
  const sizes = namesIn(folder).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sizeOf(path);
    return entry.isFile() ? (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) : 0;
  });
  return sum(sizes);
}

function namesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const LOST = 'the run cannot be shown or resumed without it: measure again';
const HOST = { schema: 'host', problem: 'not a host description', hint: LOST } as const;
const RUN = { schema: 'run', version: RUN_SCHEMA, problem: 'not a plan', hint: LOST } as const;
const RECORD = {
  schema: 'record',
  version: RECORD_SCHEMA,
  problem: 'not a trial record',
  hint: 'delete the line to lose only that trial; --resume then measures it again',
} as const;

/**
 * Reads a run. Skips a last line that is cut. Throws a usage error (file:line) for any other content that is unreadable or
 * does not match its schema, and for a schema of another version.
 */
export function readRun(folder: string): StoredRun {
  const run = readRunFile(folder);
  const host = readChecked(join(folder, 'host.json'), HOST);
  const trials = readLines(join(folder, 'trials.jsonl'), RECORD);
  return { ...run, folder, host, trials };
}

/** Reads only `run.json`. Throws as `readRun` does. */
export function readRunFile(folder: string): RunFile {
  return readChecked(join(folder, 'run.json'), RUN);
}

/** Prepares a stored run to be continued, so that the next trial starts a new line: ends the last one, or removes it if it is cut. */
export function mendRun(folder: string): void {
  const file = join(folder, 'trials.jsonl');
  if (!existsSync(file)) return;
  const text = textOf(file, RECORD);
  const last = text.slice(text.lastIndexOf('\n') + 1);
  if (last === '') return;
  if (parseJson(last) !== undefined) writeDurably(file, '\n', 'a');
  else truncateSync(file, readFileSync(file).lastIndexOf(0x0a) + 1);
}

/** Describes the differences between the versions of a stored run and the current ones. */
export function versionDifferences(then: Versions, now: Versions): string[] {
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name])
    .map((name) => `${name}: ${then[name] ?? 'absent'} then, ${now[name] ?? 'absent'} now`);
}

/** A kind of stored values, and the words of the errors about them. */
export interface StoredKind<Name extends keyof Stored> {
  /** The name of the schema of such a value. */
  schema: Name;
  /** The version that is read; absent for values without one. */
  version?: number;
  /** `not a plan`. */
  problem: string;
  hint: string;
}

/** Reads a file of one value. Throws a usage error if it is unreadable, of another version, or does not match its schema. */
export function readChecked<Name extends keyof Stored>(file: string, kind: StoredKind<Name>): Stored[Name] {
  return check(textOf(file, kind), file, kind);
}

/**
 * Reads a file with a value in each line; none if it does not exist. Skips a last line that is cut: it is what remains of a
 * process that was killed. Throws as `readChecked` does, with the number of the line.
 */
export function readLines<Name extends keyof Stored>(file: string, kind: StoredKind<Name>): Stored[Name][] {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return [];
  const text = textOf(file, kind);
  const values: Stored[Name][] = [];
  // Line by line: of a file of others, the first wrong line is the last that is looked at.
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end < 0 ? undefined : end);
    if (end < 0 && parseJson(line) === undefined) break;
    values.push(check(line, `${file}:${values.length + 1}`, kind));
    from += line.length + 1;
  }
  return values;
}

/** The longest file of a run that is read, in bytes: about 30,000 records. */
const MOST_BYTES = 256 * 1024 ** 2;

/**
 * Reads a file of a run. Throws a usage error for anything but a regular file: in a run that somebody sent, a pipe or a
 * device could stand in its place and never end, and a link could lead to any file of the user.
 */
function textOf(file: string, { hint }: Pick<StoredKind<keyof Stored>, 'hint'>): string {
  const refuse = (why: string): BenchError => new UsageError(`${showPath(file)}: ${why}`, hint);
  let found: Stats;
  try {
    found = lstatSync(file);
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`);
  }
  if (!found.isFile()) throw refuse(`is ${nameKind(found)}, not a file`);
  if (found.size > MOST_BYTES) throw refuse(`is longer than ${MOST_BYTES / 1024 ** 2} MiB`);
  const text = readTextFile(file, MOST_BYTES);
  if (text === undefined) throw refuse('cannot be read');
  return text;
}

function nameKind(found: Stats): string {
  if (found.isSymbolicLink()) return 'a link';
  if (found.isDirectory()) return 'a folder';
  return found.isFIFO() ? 'a named pipe' : found.isSocket() ? 'a socket' : 'a device';
}

function check<Name extends keyof Stored>(
  text: string,
  where: string,
  { schema, version, problem, hint }: StoredKind<Name>,
): Stored[Name] {
  let value: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(text);
    // Any other value has no fields.
    value = typeof parsed === 'object' ? { ...parsed } : {};
  } catch (error) {
    throw new UsageError(`${showPath(where)}: cannot be read: ${(error as Error).message}`, hint);
  }
  if (version !== undefined && typeof value['schema'] === 'number' && value['schema'] !== version) {
    const update = HOME.kind === 'repository' ? 'update with git pull' : 'install a newer bench-http';
    throw new UsageError(
      `${showPath(where)}: has schema ${value['schema']}, and this version of Bench reads only schema ${version}`,
      `if a newer version wrote it, ${update}; otherwise, measure again`,
    );
  }
  const detail = problemWith(schema, value);
  if (detail !== undefined) throw new UsageError(`${showPath(where)}: ${problem}: ${detail}`, hint);
  return value as unknown as Stored[Name];
}

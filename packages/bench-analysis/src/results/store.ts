import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
  type Dirent,
} from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { suggest } from 'bench-model/suggest';
import { BenchError } from 'bench-model/errors';
import { judgeStored } from '../judge/stored.ts';
import { HOME, makeProjectFolder, commandLine } from 'bench-machine/home';
import { RECORD_SCHEMA, RUN_SCHEMA } from 'bench-model/versions';
import { redact } from 'bench-machine/redact';
import type { Plan } from 'bench-model/plan';
import type { Host } from 'bench-model/host';
import type { Trial } from 'bench-model/record';
import type { RunFile, Versions } from 'bench-model/run';
import { problemWith, type Stored } from './validate.ts';
import { sum } from 'bench-statistics/numbers';

/** A stored run. */
export interface StoredRun extends RunFile {
  folder: string;
  host: Host;
  trials: Trial[];
}

/**
 * Creates the folder of a run with `run.json` and `host.json`. Throws a usage error if the results folder is not
 * writable.
 */
export function createRun(run: RunFile, host: Host): string {
  const text = JSON.stringify(redact(run), null, 2);
  const folder = join(HOME.results, run.plan.run);
  try {
    makeProjectFolder();
    mkdirSync(folder, { recursive: true });
    writeReport(folder, 'run.json', `${text}\n`);
    writeReport(folder, 'host.json', `${JSON.stringify(host, null, 2)}\n`);
  } catch (error) {
    throw new BenchError(
      'usage',
      `${shown(folder)} cannot be written: ${(error as Error).message}`,
      `make ${shown(HOME.results)} a writable folder`,
    );
  }
  return folder;
}

/** Adds to `run.json` the rounds after which the run was stopped. Does nothing if it has these already. */
export function keepStops(folder: string, { stops }: Pick<Plan, 'stops'>): void {
  const run = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunFile;
  if (isDeepStrictEqual(run.plan.stops, stops)) return;
  const text = JSON.stringify({ ...run, plan: { ...run.plan, stops } }, null, 2);
  writeReport(folder, 'run.json', `${text}\n`);
}

/** Appends trials to the run and returns once they are on disk. */
export function appendTrials(folder: string, trials: Trial[]): void {
  const lines = trials.map((trial) => `${JSON.stringify(redact(trial))}\n`);
  writeDurably(join(folder, 'trials.jsonl'), lines.join(''), 'a');
}

/** Appends one value to a file of JSON lines and returns once it is on disk. */
export function appendLine(file: string, value: unknown): void {
  writeDurably(file, `${JSON.stringify(redact(value))}\n`, 'a');
}

/** Stores a file beside its run. Replaces one that is there: a link in a received run could point anywhere. */
export function writeReport(folder: string, name: string, text: string): void {
  const draft = join(folder, `.${name}.${process.pid}`);
  rmSync(draft, { force: true });
  writeDurably(draft, text, 'wx');
  renameSync(draft, join(folder, name));
}

function writeDurably(file: string, text: string, mode: 'a' | 'wx'): void {
  const open = openSync(file, mode);
  try {
    writeSync(open, text);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}

/** The word that names the newest run. */
const LATEST = 'latest';

/** The number of runs that a message lists. */
const MOST_LISTED = 3;

/**
 * Returns the folder of a run: by id, by path, or by the word `latest` for the newest unpublished run. Throws a
 * usage error for an unknown run, with similar ids or else the newest ones.
 */
export function findRun(name: string): string {
  const newest = name === LATEST ? newestRuns(1)[0] : undefined;
  const candidates = [
    name,
    join(HOME.results, name),
    join(HOME.results, 'published', name),
    ...(newest === undefined ? [] : [join(HOME.results, newest)]),
  ];
  const found = candidates.find((folder) => existsSync(join(folder, 'run.json')));
  if (found !== undefined) return found;
  throw new BenchError(
    'usage',
    name === LATEST ? `${shown(HOME.results)} has no runs yet` : `unknown run "${name}"`,
    suggestRuns(name),
  );
}

/**
 * Returns the ids of the newest runs, newest first. Omits the probe of `--rate auto`, which belongs to the run
 * after it.
 */
function newestRuns(count: number): string[] {
  return listRuns()
    .filter((id) => !id.endsWith('-probe'))
    .toReversed()
    .slice(0, count);
}

function suggestRuns(name: string): string {
  const runs = [...listRuns(), ...listRuns(join(HOME.results, 'published'))];
  const similar = name === LATEST || runs.length === 0 ? undefined : suggest(name, [...runs, LATEST]);
  if (similar !== undefined) return similar;
  const newest = newestRuns(MOST_LISTED);
  return newest.length > 0
    ? `the newest runs are ${newest.join(', ')}; latest means the first one`
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

/**
 * Reads a run, and judges its trials by the rules in force. Skips an incomplete last line: it is what remains of a trial that was killed. Throws a usage error
 * (file:line) for any other content that is unreadable or does not match its schema, and for a schema of another version.
 */
export function readRun(folder: string): StoredRun {
  const run = readRunFile(folder);
  const hostFile = join(folder, 'host.json');
  const host = readJson(hostFile);
  refuseInvalid('host', host, shown(hostFile), 'not a host description', LOST);
  const trials = readTrials(join(folder, 'trials.jsonl'));
  return { ...run, folder, host, trials: judgeStored({ plan: run.plan, host, trials }) };
}

/** Reads only `run.json`. Throws as `readRun` does. */
export function readRunFile(folder: string): RunFile {
  const file = join(folder, 'run.json');
  const run = readJson(file);
  refuseVersion(run, file, RUN_SCHEMA);
  refuseInvalid('run', run, shown(file), 'not a plan', LOST);
  return run;
}

function readTrials(file: string): Trial[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  return lines.map((line, index) => {
    const where = `${file}:${index + 1}`;
    const trial = parse(line, shown(where), REPAIR);
    refuseVersion(trial, where, RECORD_SCHEMA);
    refuseInvalid('record', trial, shown(where), 'not a trial record', REPAIR);
    return trial;
  });
}

/**
 * Prepares a stored run to be continued: removes an incomplete last line, so that the next trial starts a new one. Throws a
 * usage error if its folder holds a link, because a received run could make Bench write elsewhere.
 */
export function mendRun(folder: string): void {
  const link = readdirSync(folder, { recursive: true, withFileTypes: true }).find((one) =>
    one.isSymbolicLink(),
  );
  if (link !== undefined) {
    throw new BenchError(
      'usage',
      `${shown(join(link.parentPath, link.name))} is a link, so the run is not continued: it could write elsewhere`,
      'remove the link, or copy what it points to',
    );
  }
  const file = join(folder, 'trials.jsonl');
  if (!existsSync(file)) return;
  const bytes = readFileSync(file);
  truncateSync(file, bytes.lastIndexOf(0x0a) + 1);
}

/** Describes the differences between the versions of a stored run and the current ones. */
export function versionDifferences(then: Versions, now: Versions): string[] {
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name])
    .map((name) => `${name}: ${then[name] ?? 'absent'} then, ${now[name] ?? 'absent'} now`);
}

const REPAIR = 'delete the line to lose only that trial; --resume then measures it again';
const LOST = 'the run cannot be shown or resumed without it: measure again';

function readJson(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new BenchError('usage', `${shown(file)}: cannot be read: ${(error as Error).message}`, LOST);
  }
  return parse(text, shown(file), LOST);
}

/** Returns the object that a text holds; one without fields for any other value. */
function parse(text: string, where: string, hint: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch (error) {
    throw new BenchError('usage', `${where}: cannot be read: ${(error as Error).message}`, hint);
  }
}

function refuseInvalid<Name extends keyof Stored>(
  name: Name,
  value: unknown,
  where: string,
  problem: string,
  hint: string,
): asserts value is Stored[Name] {
  const detail = problemWith(name, value);
  if (detail !== undefined) throw new BenchError('usage', `${where}: ${problem}: ${detail}`, hint);
}

/** Throws a usage error if this has a schema of another version than the one that is read. */
export function refuseVersion({ schema }: Record<string, unknown>, where: string, read: number): void {
  if (typeof schema !== 'number' || schema === read) return;
  const update = HOME.kind === 'repository' ? 'update with git pull' : 'install a newer bench-http';
  throw new BenchError(
    'usage',
    `${shown(where)}: has schema ${schema}, and this version of Bench reads only schema ${read}`,
    `if a newer version wrote it, ${update}; otherwise, measure again`,
  );
}

/** Returns a path as a user would type it. */
export function shown(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near || '.';
}

import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  truncateSync,
  writeSync,
  type Dirent,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { ROOT } from '../catalogue/stacks.ts';
import { nearest } from '../nearest.ts';
import { BenchError } from '../errors.ts';
import { RECORD_SCHEMA, type Trial } from '../model.ts';
import { REASON_CODES } from '../reasons.ts';
import type { Plan } from '../plan/plan.ts';
import { redact } from '../redact.ts';
import type { Host } from './host.ts';
import { upgradeRun, upgradeTrial } from './older.ts';

/** Every run has a folder here, elsewhere by `BENCH_RESULTS`; `published/` holds those that are kept with the project. */
export const RESULTS = resolve(process.env['BENCH_RESULTS'] ?? join(ROOT, 'results'));

/** The version of `run.json`. A newer one is refused, not guessed at. */
export const STORE_SCHEMA = 2;

/** What a run was made with: a resumed run must find the same. */
export type Versions = Record<string, string>;

/** A target that was left out of a run, and why. */
export interface LeftOut {
  target: string;
  reason: string;
  hint: string;
}

/** `run.json`. */
export interface RunFile {
  schema: number;
  plan: Plan;
  versions: Versions;
  leftOut: LeftOut[];
}

/** A run as it lies in its folder. */
export interface StoredRun extends RunFile {
  folder: string;
  host: Host;
  trials: Trial[];
}

/** Creates the run's folder with `run.json` and `host.json`. Throws a usage error when the results folder cannot be written. */
export function createRun(run: RunFile, host: Host): string {
  const text = JSON.stringify(redact(run), null, 2);
  const folder = join(RESULTS, run.plan.run);
  try {
    mkdirSync(folder, { recursive: true });
    writeDurably(join(folder, 'run.json'), `${text}\n`, 'w');
    writeDurably(join(folder, 'host.json'), `${JSON.stringify(host, null, 2)}\n`, 'w');
  } catch (error) {
    throw new BenchError(
      'usage',
      `${shown(folder)} cannot be written: ${(error as Error).message}`,
      `make ${shown(RESULTS)} a folder that you may write to`,
    );
  }
  return folder;
}

/** Adds trials to the run: on the disk when this returns. */
export function appendTrials(folder: string, trials: Trial[]): void {
  const lines = trials.map((trial) => `${JSON.stringify(redact(trial))}\n`);
  writeDurably(join(folder, 'trials.jsonl'), lines.join(''), 'a');
}

/** Adds one value to a file of JSON lines: on the disk when this returns. */
export function appendLine(file: string, value: unknown): void {
  writeDurably(file, `${JSON.stringify(redact(value))}\n`, 'a');
}

/** Keeps a report beside the run it was made from. */
export function writeReport(folder: string, name: string, text: string): void {
  writeDurably(join(folder, name), text, 'w');
}

function writeDurably(file: string, text: string, mode: 'a' | 'w'): void {
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

/** How many runs a message lists. */
const MOST_LISTED = 3;

/**
 * The folder of a run: by its id, by a path, or by the word `latest` for the newest run that is not published. Throws a
 * usage error for an unknown run, with similar ids, or else the newest ones.
 */
export function findRun(name: string): string {
  const newest = name === LATEST ? newestRuns(1)[0] : undefined;
  const candidates = [
    name,
    join(RESULTS, name),
    join(RESULTS, 'published', name),
    ...(newest === undefined ? [] : [join(RESULTS, newest)]),
  ];
  const found = candidates.find((folder) => existsSync(join(folder, 'run.json')));
  if (found !== undefined) return found;
  throw new BenchError(
    'usage',
    name === LATEST ? `${shown(RESULTS)} holds no run yet` : `unknown run "${name}"`,
    suggestRuns(name),
  );
}

/** The ids of the newest runs, newest first. The probe of `--rate auto` belongs to the run that follows it. */
function newestRuns(count: number): string[] {
  return listRuns()
    .filter((id) => !id.endsWith('-probe'))
    .toReversed()
    .slice(0, count);
}

function suggestRuns(name: string): string {
  const runs = [...listRuns(), ...listRuns(join(RESULTS, 'published'))];
  const words = name === LATEST ? [] : [...runs, LATEST];
  const similar = nearest(name, words).filter((id) => isSimilar(name, id));
  if (similar.length > 0 && runs.length > 0) return `did you mean ${similar.join(', ')}?`;
  const newest = newestRuns(MOST_LISTED);
  return newest.length > 0
    ? `the newest are ${newest.join(', ')}; latest names the first of them`
    : 'pnpm bench makes one';
}

/** Only an id that shares most of its letters is worth suggesting. */
function isSimilar(typed: string, id: string): boolean {
  return distance(typed, id) <= Math.max(2, typed.length / 3);
}

/** The ids of the runs in a folder, oldest first; published ones are in a folder of their own. */
export function listRuns(folder = RESULTS): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'run.json')))
    .toSorted();
}

/** Returns the bytes that the files below a folder take on the disk; 0 when it is not there. What vanishes meanwhile counts 0. */
export function sizeOf(folder: string): number {
  return namesIn(folder)
    .map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sizeOf(path);
      return entry.isFile() ? (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) : 0;
    })
    .reduce((sum, bytes) => sum + bytes, 0);
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
 * Reads a run. A last line without its end is what a kill left of the trial in flight and is passed
 * over. Throws a usage error (file:line) for anything else that cannot be read, and for a newer schema.
 */
export function readRun(folder: string): StoredRun {
  const found = readJson<RunFile>(join(folder, 'run.json'));
  refuseNewer(found?.schema, join(folder, 'run.json'), STORE_SCHEMA);
  if (!Array.isArray(found?.plan?.trials)) {
    throw new BenchError('usage', `${shown(join(folder, 'run.json'))}: not the plan of a run`, LOST);
  }
  const host = readJson<Host>(join(folder, 'host.json'));
  if (typeof host?.platform !== 'string') {
    throw new BenchError('usage', `${shown(join(folder, 'host.json'))}: not the description of a host`, LOST);
  }
  const file = join(folder, 'trials.jsonl');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  const trials = lines.map((line, index) => {
    const where = `${shown(file)}:${index + 1}`;
    const stored = parse<{ schema?: number } | null>(line, where);
    refuseNewer(stored?.schema, `${file}:${index + 1}`, RECORD_SCHEMA);
    const trial = upgradeTrial({ ...stored }, { ...found.plan }) as unknown as Trial;
    if (typeof trial?.id !== 'string' || typeof trial.status !== 'string') {
      throw new BenchError('usage', `${shown(file)}:${index + 1}: not the record of a trial`, REPAIR);
    }
    const unknown = trial.reasons?.find(({ code }) => !REASON_CODES.includes(code));
    if (unknown !== undefined) {
      throw new BenchError('usage', `${where}: unknown reason "${unknown.code}"`, REPAIR);
    }
    return trial;
  });
  const run = upgradeRun({ ...found }) as unknown as RunFile;
  return nameUrlWorkload({ ...run, folder, host, trials });
}

/** Runs by `--url` of older versions were stored under the name of a workload that nobody asked for. */
function nameUrlWorkload(run: StoredRun): StoredRun {
  if (run.plan.url === undefined || run.plan.workload === 'url') return run;
  return {
    ...run,
    plan: { ...run.plan, workload: 'url' },
    trials: run.trials.map((trial) => ({ ...trial, workload: 'url' })),
  };
}

/** Cuts off what a kill left of the last line, so that the next trial begins a line of its own. */
export function mendRun(folder: string): void {
  const file = join(folder, 'trials.jsonl');
  if (!existsSync(file)) return;
  const bytes = readFileSync(file);
  truncateSync(file, bytes.lastIndexOf(0x0a) + 1);
}

/** What differs between the versions that a run was made with and those of now, in words. */
export function versionDifferences(then: Versions, now: Versions): string[] {
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name])
    .map((name) => `${name}: ${then[name] ?? 'absent'} then, ${now[name] ?? 'absent'} now`);
}

const REPAIR = 'delete the line to lose that trial only, then --resume measures it anew';
const LOST = 'the run cannot be shown or resumed without it: measure it anew';

function readJson<T>(file: string): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new BenchError('usage', `${shown(file)}: cannot be read: ${(error as Error).message}`, LOST);
  }
  return parse<T>(text, shown(file), LOST);
}

function parse<T>(text: string, where: string, hint = REPAIR): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new BenchError('usage', `${where}: cannot be read: ${(error as Error).message}`, hint);
  }
}

function refuseNewer(schema: number | undefined, where: string, known: number): void {
  if (schema !== undefined && schema > known) {
    throw new BenchError(
      'usage',
      `${shown(where)}: written by a newer version (schema ${schema}, this one knows ${known})`,
      'update this checkout: git pull',
    );
  }
}

/** A path as a user would type it. */
export function shown(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near || '.';
}

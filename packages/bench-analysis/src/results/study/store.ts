/** The folder of a study: `study.json`, `host.json` and `processes.jsonl`. */
import { HOME } from 'bench-machine/home';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { redact } from 'bench-machine/redact';
import { STUDY_SCHEMA } from 'bench-model/versions';
import type { Host } from 'bench-model/host';
import { appendLine, refuseVersion, shown, writeReport } from '../store.ts';
import { problemWith, type Stored } from '../validate.ts';
import type { StudiedProcess, StudyFile } from 'bench-model/study';

/** A stored study. */
export interface StoredStudy {
  folder: string;
  file: StudyFile;
  host: Host;
  processes: StudiedProcess[];
}

/** Creates the folder of a study below `parent`. Throws a usage error if it cannot be written. */
export function createStudy(file: StudyFile, host: Host, parent = HOME.results): string {
  const folder = join(parent, file.run);
  try {
    mkdirSync(folder, { recursive: true });
    writeReport(folder, 'study.json', `${JSON.stringify(redact(file), null, 2)}\n`);
    writeReport(folder, 'host.json', `${JSON.stringify(host, null, 2)}\n`);
  } catch (error) {
    throw new BenchError(
      'usage',
      `${shown(folder)} cannot be written: ${(error as Error).message}`,
      `make ${shown(parent)} a writable folder`,
    );
  }
  return folder;
}

/** Appends a process to a study and returns once it is on disk. */
export function appendProcess(folder: string, process: StudiedProcess): void {
  appendLine(join(folder, 'processes.jsonl'), process);
}

/** Returns the folder of a study, by id or by path; undefined if there is none of that name. */
export function findStudy(name: string): string | undefined {
  return [name, join(HOME.results, name), join(HOME.results, 'published', name)].find(isStudy);
}

/** Returns the ids of the studies in the results folder, oldest first. */
export function listStudies(): string[] {
  if (!existsSync(HOME.results)) return [];
  return readdirSync(HOME.results)
    .filter((name) => isStudy(join(HOME.results, name)))
    .toSorted();
}

function isStudy(folder: string): boolean {
  return existsSync(join(folder, 'study.json'));
}

/**
 * Reads a study. Skips an incomplete last line, the rest of a process that was killed. Throws a usage error (file:line)
 * for anything else that does not match its schema, and for a schema of another version.
 */
export function readStudy(folder: string): StoredStudy {
  const study = join(folder, 'study.json');
  const host = join(folder, 'host.json');
  const processes = join(folder, 'processes.jsonl');
  const lines = existsSync(processes) ? textOf(processes).split('\n').slice(0, -1) : [];
  return {
    folder,
    file: parse('study', textOf(study), study),
    host: parse('host', textOf(host), host),
    processes: lines.map((line, index) => parse('process', line, `${processes}:${index + 1}`)),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error as Error);
  }
}

function unreadable(where: string, { message }: Error): BenchError {
  return new BenchError('usage', `${shown(where)}: cannot be read: ${message}`, AGAIN);
}

const AGAIN = 'study the target again: pnpm warm';

function parse<Name extends keyof Stored>(name: Name, text: string, where: string): Stored[Name] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(where, error as Error);
  }
  if (name !== 'host') refuseVersion(Object(value), where, STUDY_SCHEMA);
  const problem = problemWith(name, value);
  if (problem !== undefined)
    throw new BenchError('usage', `${shown(where)}: not a study of warm-up: ${problem}`, AGAIN);
  return value as Stored[Name];
}

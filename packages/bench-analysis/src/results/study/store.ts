/** The folder of a study: `study.json`, `host.json` and `processes.jsonl`. */
import { commandLine, HOME } from 'bench-machine/home';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { redact } from 'bench-machine/redact';
import { STUDY_SCHEMA } from 'bench-model/versions';
import type { Host } from 'bench-model/host';
import { appendLine, createFolder, readChecked, readLines } from '../store.ts';
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
  return createFolder(parent, file.run, { 'study.json': redact(file), 'host.json': host });
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

const KIND = { problem: 'not a study of warm-up', hint: `study the target again: ${commandLine('warmup')}` };

/**
 * Reads a study. Skips an incomplete last line, the rest of a process that was killed. Throws a usage error (file:line)
 * for anything else that does not match its schema, and for a schema of another version.
 */
export function readStudy(folder: string): StoredStudy {
  const versioned = { ...KIND, version: STUDY_SCHEMA };
  return {
    folder,
    file: readChecked(join(folder, 'study.json'), { ...versioned, schema: 'study' }),
    host: readChecked(join(folder, 'host.json'), { ...KIND, schema: 'host' }),
    processes: readLines(join(folder, 'processes.jsonl'), { ...versioned, schema: 'process' }),
  };
}

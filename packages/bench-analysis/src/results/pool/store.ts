import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { appendLine, refuseVersion, shown, writeReport } from '../store.ts';
import { problemWith, type Stored } from '../validate.ts';
import { POOL_SCHEMA } from 'bench-model/versions';
import type { Pooled, PoolFile } from 'bench-model/pool';

/** A stored pool. */
export interface Pool extends PoolFile {
  entries: Pooled[];
}

/**
 * Reads a pool; undefined if there is none yet. Throws a usage error (file:line) for anything that does not match its
 * schema, and for a schema of another version.
 */
export function readPool(folder: string): Pool | undefined {
  const head = join(folder, 'pool.json');
  if (!existsSync(head)) return undefined;
  const file = join(folder, 'pool.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  const said = parse(readFileSync(head, 'utf8'), shown(head));
  refuseVersion(said, head, POOL_SCHEMA);
  return {
    ...validated('pool', said, shown(head)),
    entries: lines.map((line, index) => readEntry(line, `${shown(file)}:${index + 1}`)),
  };
}

/** Creates a pool. */
export function createPool(folder: string, pool: PoolFile): void {
  mkdirSync(folder, { recursive: true });
  writeReport(folder, 'pool.json', `${JSON.stringify(pool, null, 2)}\n`);
}

/** Appends to a pool and returns once the entry is on disk. */
export function appendPooled(folder: string, entry: Pooled): void {
  appendLine(join(folder, 'pool.jsonl'), entry);
}

const AGAIN = 'start another pool with --pool FOLDER';

function readEntry(line: string, where: string): Pooled {
  const entry = parse(line, where);
  if (entry['kind'] === 'noise') return validated('pool-noise', entry, where);
  return validated(entry['kind'] === 'matrix' ? 'pool-matrix' : 'pool-test', entry, where);
}

function validated<Name extends 'pool' | 'pool-test' | 'pool-matrix' | 'pool-noise'>(
  name: Name,
  value: unknown,
  where: string,
): Stored[Name] {
  const problem = problemWith(name, value);
  if (problem !== undefined) throw new BenchError('usage', `${where}: not part of a pool: ${problem}`, AGAIN);
  return value as Stored[Name];
}

/** Returns the object that a text holds; one without fields for any other value. */
function parse(text: string, where: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch (error) {
    throw new BenchError('usage', `${where}: cannot be read: ${(error as Error).message}`, AGAIN);
  }
}

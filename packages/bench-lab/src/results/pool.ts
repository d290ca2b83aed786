/** The folder of a pool of sequential tests: `pool.json` and `pool.jsonl`. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  appendLine,
  readChecked,
  readLines,
  type StoredKind,
  writeReport,
} from 'bench-analysis/results/store';
import { POOL_SCHEMA } from 'bench-model/versions';
import type { Pooled, PoolFile } from 'bench-model/pool';

/** A stored pool. */
export interface Pool extends PoolFile {
  entries: Pooled[];
}

const KIND = { problem: 'not part of a pool', hint: 'start another pool with --pool FOLDER' };
const ENTRY: StoredKind<'pool-test' | 'pool-matrix'> = {
  ...KIND,
  schema: ({ kind }) => (kind === 'matrix' ? 'pool-matrix' : 'pool-test'),
};

/**
 * Reads a pool; undefined if there is none yet. Throws a usage error (file:line) for anything that does not match its
 * schema, and for a schema of another version.
 */
export function readPool(folder: string): Pool | undefined {
  const head = join(folder, 'pool.json');
  if (!existsSync(head)) return undefined;
  return {
    ...readChecked(head, { ...KIND, schema: 'pool', version: POOL_SCHEMA }),
    entries: readLines(join(folder, 'pool.jsonl'), ENTRY),
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

/** A pool of sequential tests: `pool.json`, and one line of `pool.jsonl` for each. Only `power` writes and reads it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendLines, writeReport } from 'bench-analysis/results/store';
import { makeFolder } from 'bench-machine/files';
import { UsageError } from 'bench-model/errors';
import type { Host } from 'bench-model/host';
import type { Verdict } from 'bench-model/options';

export const POOL_SCHEMA = 1;

/** The parameters of the twins, determined once per pool: CPU of one unit of work, of a request without work, and the units of the base. */
export interface Twins {
  unitNs: number;
  bareUs: number;
  units: { base: number };
}

/** The facts that all entries of a pool share. */
export interface PoolFile {
  schema: number;
  host: Host;
  twins: Twins;
}

/** The extra cost per request of the costlier twin in a comparison of two. */
export interface Effect {
  /** Its share; 0 is A/A. */
  effect: number;
  /** True if it is spent 50 ms after the response. */
  deferred?: boolean;
}

/** One sequential test of twins, from its first round to its verdict. */
export interface PooledTest extends Effect {
  startedAt: string;
  /** The smallest difference that mattered, as a share. */
  threshold: number;
  /** True if the candidate is the same program in another folder. */
  copied: boolean;
  seconds: number;
  /** Failed ones included. */
  rounds: number;
  verdict: Verdict;
  ratio?: number;
  /** One log ratio for each round; null if a trial failed. */
  differences: (number | null)[];
}

export interface Pool extends PoolFile {
  entries: PooledTest[];
}

/** Reads a pool; undefined if there is none yet. Skips a last line that is cut. Throws a usage error for one of another version. */
export function readPool(folder: string): Pool | undefined {
  const head = join(folder, 'pool.json');
  if (!existsSync(head)) return undefined;
  const pool = JSON.parse(readFileSync(head, 'utf8')) as PoolFile;
  if (pool.schema !== POOL_SCHEMA)
    throw new UsageError(`${head} is of another version`, 'start another pool with --pool FOLDER');
  const file = join(folder, 'pool.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return { ...pool, entries: lines.map((line) => JSON.parse(line) as PooledTest) };
}

/** Creates a pool. */
export function createPool(folder: string, pool: PoolFile): void {
  makeFolder(folder);
  writeReport(folder, 'pool.json', `${JSON.stringify(pool, null, 2)}\n`);
}

/** Appends to a pool and returns once the entry is on disk. */
export function appendPooled(folder: string, entry: PooledTest): void {
  appendLines(join(folder, 'pool.jsonl'), [entry]);
}

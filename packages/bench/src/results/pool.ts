import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../errors.ts';
import type { Twins } from '../measure/twins.ts';
import type { Host } from './host.ts';
import { upgradePooled } from './older.ts';
import { appendLine, shown, writeReport } from './store.ts';

/** One sequential test of twins, from its first round to its verdict. */
export interface PooledTest {
  kind: 'sequential-test';
  startedAt: string;
  /** The planted difference: how much more CPU the candidate uses, as a share. */
  effect: number;
  /** True if the candidate is the same program in another folder. */
  copied: boolean;
  seconds: number;
  rounds: number;
  verdict: string;
  byMoreThanThreshold: boolean;
  /** The ratio candidate ÷ baseline of CPU per request. */
  ratio?: number;
  /** ln(candidate ÷ baseline) of each round; null if a trial failed. */
  differences: (number | null)[];
  /** The average Req/Sec that one run of stock autocannon printed for each. */
  stock?: { baseline: number; candidate: number };
}

/** One A/A round of a target, as separate trials or as a duel. */
export interface PooledNoise {
  kind: 'noise';
  startedAt: string;
  target: string;
  method: 'separate' | 'duel';
  connections: number;
  windowSeconds: number;
  /** ln of the ratio of CPU per request; null if a trial failed. */
  difference: number | null;
}

export type Pooled = PooledTest | PooledNoise;

/**
 * `pool.json`: the facts that all entries of a pool share. Schema 2 (2026-11-22) has a new name for the kind of a
 * sequential test. A pool of schema 1 may hold both names, because later entries are added to it.
 */
export interface PoolFile {
  schema: 1 | 2;
  host: Host;
  twins: Twins;
}

/** A stored pool. */
export interface Pool extends PoolFile {
  entries: Pooled[];
}

/** Reads a pool; undefined if there is none yet. Throws a usage error (file:line) if it cannot be read. */
export function readPool(folder: string): Pool | undefined {
  const head = join(folder, 'pool.json');
  if (!existsSync(head)) return undefined;
  const file = join(folder, 'pool.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return {
    ...parse<PoolFile>(readFileSync(head, 'utf8'), shown(head)),
    entries: lines.map(
      (line, index) => upgradePooled(parse(line, `${shown(file)}:${index + 1}`)) as unknown as Pooled,
    ),
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

function parse<T>(text: string, where: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new BenchError(
      'usage',
      `${where}: cannot be read: ${(error as Error).message}`,
      'start another pool with --pool FOLDER',
    );
  }
}

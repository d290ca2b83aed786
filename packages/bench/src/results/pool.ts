import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../errors.ts';
import type { Twins } from '../measure/twins.ts';
import type { Host } from './host.ts';
import { appendLine, shown, writeReport } from './store.ts';

/** One sitting over twins, from its first round to its verdict. */
export interface PooledSitting {
  kind: 'sitting';
  startedAt: string;
  /** What was planted: the candidate costs so much more, as a share. */
  effect: number;
  /** Whether the candidate is the same program in another folder. */
  copied: boolean;
  seconds: number;
  rounds: number;
  verdict: string;
  byMoreThanThreshold: boolean;
  /** Candidate ÷ baseline, CPU per request. */
  ratio?: number;
  /** Per round ln(candidate ÷ baseline); null where a trial failed. */
  differences: (number | null)[];
  /** What one run each of stock autocannon printed as its average Req/Sec. */
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
  /** ln of the ratio of CPU per request; null where a trial failed. */
  difference: number | null;
}

export type Pooled = PooledSitting | PooledNoise;

/** `pool.json`: what all of a pool has in common. */
export interface PoolFile {
  schema: 1;
  host: Host;
  twins: Twins;
}

/** A pool as it lies in its folder. */
export interface Pool extends PoolFile {
  entries: Pooled[];
}

/** Reads a pool; undefined where there is none yet. Throws a usage error (file:line) for one that cannot be read. */
export function readPool(folder: string): Pool | undefined {
  const head = join(folder, 'pool.json');
  if (!existsSync(head)) return undefined;
  const file = join(folder, 'pool.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return {
    ...parse<PoolFile>(readFileSync(head, 'utf8'), shown(head)),
    entries: lines.map((line, index) => parse<Pooled>(line, `${shown(file)}:${index + 1}`)),
  };
}

/** Begins a pool. */
export function createPool(folder: string, pool: PoolFile): void {
  mkdirSync(folder, { recursive: true });
  writeReport(folder, 'pool.json', `${JSON.stringify(pool, null, 2)}\n`);
}

/** Adds to a pool: on the disk when this returns. */
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
      'begin another pool with --pool FOLDER',
    );
  }
}

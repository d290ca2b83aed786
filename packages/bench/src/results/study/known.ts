/** The warm-ups that are known on this machine: one file for each set of facts, in the state folder of the user. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STUDY_SCHEMA } from '../../versions.ts';
import { problemWith } from '../validate.ts';
import type { StoredWarmup } from './record.ts';

/** Everything that the warm-up of a target depends on. */
export type WarmupFacts = Record<string, string>;

/** Returns what is known for these facts; undefined if nothing is, or if the file cannot be read. */
export function readKnown(folder: string, facts: WarmupFacts): StoredWarmup | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(folder, facts), 'utf8'));
    return problemWith('warmup', value) === undefined ? (value as StoredWarmup) : undefined;
  } catch {
    // It can be found out again.
    return undefined;
  }
}

/** Stores what a study found out. A study that observed its processes for less time does not replace a longer one. */
export function writeKnown(folder: string, known: Omit<StoredWarmup, 'schema'>): void {
  const before = readKnown(folder, known.facts);
  if (before !== undefined && weightOf(before) > weightOf(known)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = fileOf(folder, known.facts);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify({ schema: STUDY_SCHEMA, ...known }, null, 2)}\n`);
  renameSync(draft, file);
}

/** A longer observation sees later changes, which more processes cannot. */
function weightOf({ seconds, processes }: Pick<StoredWarmup, 'seconds' | 'processes'>): number {
  return seconds + processes.length / 1000;
}

function fileOf(folder: string, facts: WarmupFacts): string {
  const sorted = Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return join(
    folder,
    `${createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 32)}.json`,
  );
}

/** The warm-ups that are known on this machine: one file for each set of facts, in the state folder of the user. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUncertain } from './warmup.ts';
import { STUDY_SCHEMA } from 'bench-model/versions';
import { problemWith } from 'bench-analysis/results/validate';
import type { StoredWarmup } from 'bench-model/study';

/** Everything that the warm-up of a target depends on. */
export type WarmupFacts = Record<string, string>;

/** Returns the known warm-up for these facts; undefined if there is none, or if the file cannot be read. */
export function readKnown(folder: string, facts: WarmupFacts): StoredWarmup | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(folder, facts), 'utf8'));
    return problemWith('warmup', value) === undefined ? (value as StoredWarmup) : undefined;
  } catch {
    // It can be found out again.
    return undefined;
  }
}

/**
 * Stores the findings of a study. A study that observed its processes for longer replaces what is known: it sees later
 * changes. Otherwise, if a single process left it uncertain whether the target settles, the processes join it. Among
 * studies of the same length, the one with more processes remains.
 */
export function writeKnown(folder: string, found: Omit<StoredWarmup, 'schema'>): void {
  const known = joinKnown(readKnown(folder, found.facts), found);
  if (known === undefined) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = fileOf(folder, known.facts);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify({ ...known, schema: STUDY_SCHEMA }, null, 2)}\n`);
  renameSync(draft, file);
}

/** Returns the warm-up to store after another study; undefined if that says less than the known one. */
function joinKnown(
  before: StoredWarmup | undefined,
  found: Omit<StoredWarmup, 'schema'>,
): Omit<StoredWarmup, 'schema'> | undefined {
  if (before === undefined || found.seconds > before.seconds) return found;
  if (isUncertain(before)) return { ...found, processes: [...before.processes, ...found.processes] };
  const isLess = found.seconds < before.seconds || found.processes.length < before.processes.length;
  return isLess ? undefined : found;
}

function fileOf(folder: string, facts: WarmupFacts): string {
  const sorted = Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return join(
    folder,
    `${createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 32)}.json`,
  );
}

/** The profiles of a run, beside it: `why.json`. */
import { showPath } from 'bench-machine/files';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { redact } from 'bench-machine/redact';
import { WHY_SCHEMA } from 'bench-model/versions';
import type { WhyFile } from 'bench-model/why';
import { readChecked, writeReport } from '../results/store.ts';

const WHY = 'why.json';
const KIND = {
  schema: 'why',
  version: WHY_SCHEMA,
  problem: 'not a file of profiles',
  hint: `take them again: ${commandLine('why <run>')}`,
} as const;

/** Stores the profiles of a run in its folder, in place of older ones. */
export function keepWhy(folder: string, why: WhyFile): void {
  writeReport(folder, WHY, `${JSON.stringify(redact(why))}\n`);
}

/** Reads the profiles of a run; undefined if it has none. Throws a usage error if they do not match their schema. */
export function readWhy(folder: string): WhyFile | undefined {
  const file = join(folder, WHY);
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const why = readChecked(file, KIND);
  const problem = problemWithTree(why);
  if (problem === undefined) return why;
  throw new UsageError(`${showPath(file)}: ${KIND.problem}: ${problem}`, KIND.hint);
}

/** More calls in each other than profilers record. A view of more would exhaust the stack of the program that shows it. */
const DEEPEST = 2000;

/** Returns what no schema can say: an index leads nowhere, a node calls itself, or calls are too deep. */
function problemWithTree({ frames, tree, sides }: WhyFile): string | undefined {
  const depths: number[] = [];
  for (const parent of tree.parents) depths.push(parent < 0 ? 1 : (depths[parent] ?? NaN) + 1);
  if (depths.some((depth) => !(depth <= DEEPEST))) return 'a node of its tree has no way to an outermost one';
  const isWhole =
    tree.frames.length === depths.length && tree.frames.every((frame) => frames[frame] !== undefined);
  const nodes = sides.flatMap(({ profiles }) => profiles.flatMap((profile) => profile.nodes));
  return isWhole && nodes.every((node) => node < depths.length) ? undefined : 'an index leads nowhere';
}

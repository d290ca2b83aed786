/** The profiles of a run, beside it: `why.json`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from 'bench-machine/home';
import { redact } from 'bench-machine/redact';
import { WHY_SCHEMA } from 'bench-model/versions';
import type { WhyFile } from 'bench-model/why';
import { readChecked, writeReport } from '../results/store.ts';

const WHY = 'why.json';

/** Stores the profiles of a run in its folder, in place of older ones. */
export function keepWhy(folder: string, why: WhyFile): void {
  writeReport(folder, WHY, `${JSON.stringify(redact(why))}\n`);
}

/** Reads the profiles of a run; undefined if it has none. Throws a usage error if they do not match their schema. */
export function readWhy(folder: string): WhyFile | undefined {
  const file = join(folder, WHY);
  if (!existsSync(file)) return undefined;
  return readChecked(file, {
    schema: 'why',
    version: WHY_SCHEMA,
    problem: 'not a file of profiles',
    hint: `take them again: ${commandLine('why <run>')}`,
  });
}

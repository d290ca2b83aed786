import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/catalogue/stacks.ts';

/** One row of the table of stacks. */
export type StackRow = Record<'name' | 'what' | 'versions' | 'kind', string>;

/** Reads the table of stacks in the README. */
export function readRows(): StackRow[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const rows = text.matchAll(
    /^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<versions>.+) \| (?<kind>raw|framework|tuned) \|$/gm,
  );
  return [...rows].map(({ groups }) => groups as StackRow);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from 'bench-targets/catalogue/stacks';

/** The page with the table of stacks. */
export const STACKS_PAGE = 'docs/workloads-and-stacks.md';

/** One row of the table of stacks. */
export type StackRow = Record<'name' | 'what' | 'versions' | 'kind', string>;

/** Reads the table of stacks. */
export function readStackRows(): StackRow[] {
  const rows = readFileSync(join(ROOT, STACKS_PAGE), 'utf8').matchAll(
    /^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<versions>.+) \| (?<kind>raw|framework|tuned) \|$/gm,
  );
  return [...rows].map(({ groups }) => groups as StackRow);
}

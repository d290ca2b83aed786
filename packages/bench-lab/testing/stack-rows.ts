import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from 'bench-targets/catalogue/stacks';

/** The page with the table of stacks. */
export const STACKS_PAGE = 'docs/reference/workloads.md';

/** One row of the table of stacks. */
export type StackRow = Record<'name' | 'what' | 'versions' | 'kind', string>;

/** Reads the table of stacks. */
export function readStackRows(): StackRow[] {
  const rows = readFileSync(join(ROOT, STACKS_PAGE), 'utf8').matchAll(
    /^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<versions>.+) \| (?<kind>raw|framework|tuned) \|$/gm,
  );
  return [...rows].map(({ groups }) => groups as StackRow);
}

/** Returns the row of a stack. Throws an error that says how to add it if there is none. */
export function stackRowOf(name: string): StackRow {
  const row = readStackRows().find((one) => one.name === name);
  if (row !== undefined) return row;
  throw new Error(
    `the table of stacks in ${STACKS_PAGE} has no row of ${name}. Add one: | \`${name}\` | what it is | the locked versions, such as fastify 5.12.8 | raw, framework or tuned |`,
  );
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from 'bench-targets/catalogue/stacks';

/** The page with the table of stacks. */
export const STACKS_PAGE = 'docs/reference/workloads.md';

/** One row of the table of stacks. */
export type StackRow = Record<'name' | 'what' | 'versions' | 'kind', string>;

/** Reads the table of stacks. The variants of some are listed below it. */
export function readStackRows(): StackRow[] {
  const page = readFileSync(join(ROOT, STACKS_PAGE), 'utf8');
  const rows = page.matchAll(
    /^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<versions>.+) \| (?<kind>raw|framework|tuned) \|$/gm,
  );
  return [...rows].map(({ groups }) => {
    const row = groups as StackRow;
    const below = page.split(`\nVariants of \`${row.name}\``)[1]?.split(/\nVariants of |\n#/)[0];
    return { ...row, what: `${row.what}${below ?? ''}` };
  });
}

/** Returns the row of a stack. Throws an error that says how to add it if there is none. */
export function stackRowOf(name: string): StackRow {
  const row = readStackRows().find((one) => one.name === name);
  if (row !== undefined) return row;
  throw new Error(
    `the table of stacks in ${STACKS_PAGE} has no row of ${name}. Add one: | \`${name}\` | what it is | the locked versions, such as fastify 5.12.8 | raw, framework or tuned |`,
  );
}

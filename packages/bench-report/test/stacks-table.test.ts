import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStacks, ROOT } from 'bench-targets/catalogue/stacks';

/** The page with the table of stacks. */
const PAGE = 'docs/reference/workloads.md';

/** One row of the table of stacks. */
type StackRow = Record<'name' | 'what' | 'kind', string>;

/** Reads the table of stacks. The variants of some are listed below it. */
function readStackRows(): StackRow[] {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const rows = page.matchAll(/^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<kind>raw|framework|tuned) \|$/gm);
  return [...rows].map(({ groups }) => {
    const row = groups as StackRow;
    const below = page.split(`\nVariants of \`${row.name}\``)[1]?.split(/\nVariants of |\n#/)[0];
    return { ...row, what: `${row.what}${below ?? ''}` };
  });
}

const stacks = readStacks();

describe('the table of stacks', () => {
  it('has exactly one row per stack', () => {
    const told = readStackRows().map(({ name }) => name);
    expect(told.toSorted()).toEqual(stacks.map(({ name }) => name).toSorted());
  });
});

describe.each(stacks)('the row of $name', ({ name, variants, default: usual }) => {
  const row = readStackRows().find((one) => one.name === name);

  it('shows the class of the default variant', () => {
    expect(row?.kind).toBe(variants[usual]?.class);
  });

  it('names every variant if there are several', () => {
    const names = Object.keys(variants);
    const missing = names.length < 2 ? [] : names.filter((one) => !row?.what.includes(`\`${one}\``));
    expect(missing).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStacks, ROOT } from 'bench-targets/catalogue/stacks';

/** Reads the table of stacks. The variants of some are listed below it. */
function readStackRows(): Record<'name' | 'what' | 'kind', string>[] {
  const page = readFileSync(join(ROOT, 'docs/reference/workloads.md'), 'utf8');
  const rows = page.matchAll(/^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<kind>raw|framework|tuned) \|$/gm);
  return [...rows].map(({ groups }) => {
    const { name = '', what = '', kind = '' } = groups ?? {};
    const below = page.split(`\nVariants of \`${name}\``)[1]?.split(/\nVariants of |\n#/)[0];
    return { name, what: `${what}${below ?? ''}`, kind };
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

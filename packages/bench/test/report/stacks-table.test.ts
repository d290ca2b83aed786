import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStacks, ROOT } from '../../src/catalogue/stacks.ts';
import type { Stack } from '../../src/catalogue/stack.ts';

const ROWS = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(
    /^\| `(?<name>[\w-]+)` \| (?<what>.+) \| (?<versions>.+) \| (?<kind>raw|framework|tuned) \|$/gm,
  ),
].map(({ groups }) => groups as Record<'name' | 'what' | 'versions' | 'kind', string>);

/** What fixes the versions of a stack: its own locks, that of its language's workspace, the catalog. */
function locksOf({ root }: Stack): string {
  const own = globSync(['requirements*.txt', 'go.mod', '*.csproj', 'package.json'], { cwd: root });
  const shared = ['../rustcontract/Cargo.lock', '../../pnpm-workspace.yaml'];
  const files = [...own, ...(existsSync(join(root, 'Cargo.toml')) ? shared : shared.slice(1))];
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

function escape(text: string): string {
  return text.replaceAll(/[.+*?^$()[\]{}|\\/]/g, String.raw`\$&`);
}

/** A name and its version, as pip, Go, Cargo, pnpm or MSBuild write the two. */
function isFixed(locks: string, name: string, version: string): boolean {
  const between = String.raw`(?:\[[^\]]*\])?(?:==| v|"\nversion = "|'?: |)`;
  return new RegExp(
    String.raw`(?:^|[\s/"'>])${escape(name)}${between}${escape(version)}(?![\w.])`,
    'mi',
  ).test(locks);
}

describe('the table of stacks in the README', () => {
  const stacks = readStacks();

  it('has a row for every stack, with its class', () => {
    const rows = Object.fromEntries(ROWS.map(({ name, kind }) => [name, kind]));
    const classes = stacks.map(({ name, variants, default: usual }) => [name, variants[usual]?.class]);
    expect(rows).toEqual(Object.fromEntries(classes));
  });

  it.each(ROWS.map(({ name, versions }) => [name, versions]))(
    'tells the versions of %s that are locked: %s',
    (name, versions) => {
      const stack = stacks.find((one) => one.name === name);
      if (stack === undefined) throw new Error(`no stack ${name}`);
      const locks = locksOf(stack);
      const told = versions.split(', ').map((text) => text.split(' '));
      expect(told.filter(([of = '', version = '']) => !isFixed(locks, of, version))).toEqual([]);
    },
  );

  it('names every variant that is not the only one of its stack', () => {
    const missing = stacks.flatMap(({ name, variants }) => {
      const { what = '' } = ROWS.find((row) => row.name === name) ?? {};
      const names = Object.keys(variants);
      return names.length < 2
        ? []
        : names.filter((one) => !what.includes(`\`${one}\``)).map((one) => `${name}/${one}`);
    });
    expect(missing).toEqual([]);
  });
});

import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStacks } from 'bench-targets/catalogue/stacks';
import type { Stack } from 'bench-model/stack';
import { readStackRows, stackRowOf, STACKS_PAGE } from '../../bench-lab/testing/stack-rows.ts';

/** Returns the text that pins the versions of a stack: its locks, the lock of its language's workspace, and the catalog. */
function locksOf({ root }: Stack): string {
  const own = globSync(['requirements*.txt', 'go.mod', '*.csproj', 'package.json'], { cwd: root });
  const shared = ['../rustcontract/Cargo.lock', '../../pnpm-workspace.yaml'];
  const files = [...own, ...(existsSync(join(root, 'Cargo.toml')) ? shared : shared.slice(1))];
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

function escape(text: string): string {
  return text.replaceAll(/[.+*?^$()[\]{}|\\/]/g, String.raw`\$&`);
}

/** Returns true if the locks pin this version, in the syntax of pip, Go, Cargo, pnpm or MSBuild. */
function isFixed(locks: string, name: string, version: string): boolean {
  const between = String.raw`(?:\[[^\]]*\])?(?:==| v|"\nversion = "|'?: |@|)`;
  return new RegExp(
    String.raw`(?:^|[\s/"'>:])${escape(name)}${between}${escape(version)}(?![\w.])`,
    'mi',
  ).test(locks);
}

const stacks = readStacks();

describe('the table of stacks', () => {
  it('has exactly one row per stack', () => {
    const told = readStackRows().map(({ name }) => name);
    expect(told.toSorted()).toEqual(stacks.map(({ name }) => name).toSorted());
  });
});

describe.each(stacks)('the row of $name', (stack) => {
  const { name, variants, default: usual } = stack;

  it('shows the class of the default variant', () => {
    expect(stackRowOf(name).kind).toBe(variants[usual]?.class);
  });

  it('shows the locked versions', () => {
    const locks = locksOf(stack);
    const told = stackRowOf(name)
      .versions.split(', ')
      .map((text) => text.split(' '));
    const wrong = told.filter(([of = '', version = '']) => !isFixed(locks, of, version));
    expect(wrong, `${STACKS_PAGE} names versions that the locks of ${name} do not have`).toEqual([]);
  });

  it('names every variant if there are several', () => {
    const names = Object.keys(variants);
    const missing =
      names.length < 2 ? [] : names.filter((one) => !stackRowOf(name).what.includes(`\`${one}\``));
    expect(missing).toEqual([]);
  });
});

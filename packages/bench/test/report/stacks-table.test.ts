import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStacks } from '../../src/catalogue/stacks.ts';
import type { Stack } from '../../src/catalogue/stack.ts';
import { readStackRows } from '../documents.ts';

const ROWS = readStackRows();

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

const stacks = readStacks();

describe('the table of stacks', () => {
  it('has a row for each stack and no other', () => {
    expect(ROWS.map(({ name }) => name).toSorted()).toEqual(stacks.map(({ name }) => name).toSorted());
  });
});

describe.each(stacks)('the row of $name', (stack) => {
  const { name, variants, default: usual } = stack;
  const row = ROWS.find((one) => one.name === name);

  it('has its class', () => {
    expect(row?.kind).toBe(variants[usual]?.class);
  });

  it('has the versions that are locked', () => {
    const locks = locksOf(stack);
    const told = row?.versions.split(', ').map((text) => text.split(' '));
    expect(told?.filter(([of = '', version = '']) => !isFixed(locks, of, version))).toEqual([]);
  });

  it('names every variant, unless there is only one', () => {
    const names = Object.keys(variants);
    const missing = names.length < 2 ? [] : names.filter((one) => !row?.what.includes(`\`${one}\``));
    expect(missing).toEqual([]);
  });
});

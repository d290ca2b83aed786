/** New stacks: the files that a template gives, and the entries that the language's workspace needs. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../errors.ts';
import type { Stack } from './stack.ts';

/** The languages that have a template. */
export const LANGUAGES = ['typescript', 'python', 'go', 'rust'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The stack that `pnpm new stack` was asked for. */
export interface NewStack {
  name: string;
  language: Language;
  /** Packages to depend on, that of the framework first. */
  packages: string[];
}

/** A text file, by its path from the repository's folder. */
export interface TextFile {
  path: string;
  text: string;
}

/** What a new stack consists of. */
export interface Scaffold {
  /** From the repository's folder. */
  folder: string;
  /** Files that are not there yet. */
  files: TextFile[];
  /** Files of the workspace, with the entry of the stack put in. */
  edits: TextFile[];
}

const TEMPLATES = fileURLToPath(new URL('../../templates/', import.meta.url));
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * Returns the files of a new stack, and writes nothing. `versions` are those of its packages, where the workspace pins them.
 * Throws a usage error for a name that is taken or that a folder, a module and a package cannot all have.
 */
export function scaffold(
  root: string,
  wanted: NewStack,
  stacks: readonly Stack[],
  versions: string[] = [],
): Scaffold {
  const { name, language, packages } = wanted;
  refuseName(root, name, stacks);
  const folder = folderOf(wanted);
  const template = join(TEMPLATES, language);
  const files = globSync('**/*', { cwd: template, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((file) => ({
      path: join(folder, rename(file.slice(template.length), name)),
      text: depend(rename(readFileSync(file, 'utf8'), name), file, packages),
    }));
  return { folder, files, edits: editsFor(root, wanted, versions) };
}

/** Where a stack of that name and language stands, from the repository's folder. */
export function folderOf({ name, language }: Pick<NewStack, 'name' | 'language'>): string {
  return join(language === 'python' ? 'python' : 'packages', name);
}

function refuseName(root: string, name: string, stacks: readonly Stack[]): void {
  if (!NAME.test(name)) {
    throw new BenchError(
      'usage',
      `"${name}" cannot be the name of a stack`,
      'use lower-case letters and digits, with single dashes in between, e.g. my-api',
    );
  }
  const stack = stacks.find((one) => one.name === name);
  const taken =
    stack?.manifest ??
    ['packages', 'python'].map((place) => join(place, name)).find((one) => existsSync(join(root, one)));
  if (taken !== undefined)
    throw new BenchError('usage', `the name "${name}" is taken: ${taken}`, 'choose another name');
}

/** A text of the template with the stack's name in it, as its Python module has it where that is meant. */
function rename(text: string, name: string): string {
  return text.replaceAll('bench_example', `bench_${name.replaceAll('-', '_')}`).replaceAll('example', name);
}

/** A manifest of dependencies with these packages among them. */
function depend(text: string, file: string, packages: string[]): string {
  if (file.endsWith('package.json')) {
    return text.replace(/^( *)"@bench\/contract": "workspace:\*"/m, (line, indent: string) =>
      [line, ...packages.map((name) => `${indent}${JSON.stringify(name)}: "catalog:"`)]
        .toSorted((one, other) => (one.trim() < other.trim() ? -1 : 1))
        .join(',\n'),
    );
  }
  if (!file.endsWith('pyproject.toml')) return text;
  return text.replace(
    '"bench-contract", ',
    ['bench-contract', ...packages.toSorted()].map((name) => `"${name}", `).join(''),
  );
}

function editsFor(root: string, { name, language, packages }: NewStack, versions: string[]): TextFile[] {
  const edit = (path: string, change: (text: string) => string): TextFile[] => {
    const before = readFileSync(join(root, path), 'utf8');
    const text = change(before);
    return text === before ? [] : [{ path, text }];
  };
  if (language === 'rust') return edit('packages/rustcontract/Cargo.toml', (text) => addMember(text, name));
  if (language !== 'typescript' || packages.length === 0) return [];
  const pinned = packages.map((one, index) => [one, versions[index] ?? ''] as const);
  return edit('pnpm-workspace.yaml', (text) =>
    pinned.reduce((before, [one, version]) => addToCatalog(before, one, version), text),
  );
}

function addMember(text: string, name: string): string {
  return text.replace(/^members = \[(.*)\]$/m, (_, members: string) => {
    const all = [...members.split(',').map((one) => one.trim()), `"../${name}"`];
    return `members = [${all.toSorted().join(', ')}]`;
  });
}

/** The catalog with one more entry, in the order of the alphabet; a package that is there keeps its version. */
function addToCatalog(text: string, name: string, version: string): string {
  return text.replace(/^catalog:\n((?: {2}.+\n)+)/m, (whole, entries: string) => {
    const lines = entries.trimEnd().split('\n');
    if (lines.some((line) => nameIn(line) === name)) return whole;
    const line = `  ${name.startsWith('@') ? `'${name}'` : name}: ${version}`;
    const sorted = [...lines, line].toSorted((a, b) => (nameIn(a) < nameIn(b) ? -1 : 1));
    return `catalog:\n${sorted.join('\n')}\n`;
  });
}

/** The package that a line of the catalog pins. */
function nameIn(line: string): string {
  return line.trim().replace(/^'([^']+)'.*|^([^:]+):.*/, '$1$2');
}

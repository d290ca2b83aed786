/** Scaffolding of new stacks: the files of a template, and the entries in the workspace of the language. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';

/** The languages that have a template. */
export const LANGUAGES = ['typescript', 'python', 'go', 'rust'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The options of `pnpm new stack`. */
export interface NewStack {
  name: string;
  language: Language;
  /** The packages to depend on, the framework's first. */
  packages: string[];
}

/** A text file, by its path relative to the repository. */
export interface TextFile {
  path: string;
  text: string;
}

/** The files of a new stack. */
export interface Scaffold {
  /** Relative to the repository. */
  folder: string;
  /** The files to create. */
  files: TextFile[];
  /** Existing files of the workspace, with the entry of the new stack added. */
  edits: TextFile[];
}

const TEMPLATES = fileURLToPath(new URL('../templates/', import.meta.url));
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * Returns the files of a new stack; writes nothing. `versions` are those of its packages, for languages whose
 * workspace pins them. Throws a usage error if the name is taken, or cannot name a folder, a module and a package
 * alike.
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

/** Returns the folder of a stack, relative to the repository. */
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

/**
 * Puts the name of the stack into a text of the template, and its underscored form where the text names the Python
 * module.
 */
function rename(text: string, name: string): string {
  return text.replaceAll('bench_example', `bench_${name.replaceAll('-', '_')}`).replaceAll('example', name);
}

/** Adds packages to a manifest of dependencies. */
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
    ['bench-contract', ...packages.filter((name) => !text.includes(`"${name}"`)).toSorted()]
      .map((name) => `"${name}", `)
      .join(''),
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

/** Adds an entry to the catalog in alphabetical order. A package that is already there keeps its version. */
function addToCatalog(text: string, name: string, version: string): string {
  return text.replace(/^catalog:\n((?: {2}.+\n)+)/m, (whole, entries: string) => {
    const lines = entries.trimEnd().split('\n');
    if (lines.some((line) => nameIn(line) === name)) return whole;
    const line = `  ${name.startsWith('@') ? `'${name}'` : name}: ${version}`;
    const sorted = [...lines, line].toSorted((a, b) => (nameIn(a) < nameIn(b) ? -1 : 1));
    return `catalog:\n${sorted.join('\n')}\n`;
  });
}

/** Returns the package that a line of the catalog pins. */
function nameIn(line: string): string {
  return line.trim().replace(/^'([^']+)'.*|^([^:]+):.*/, '$1$2');
}

/** The version of its runtime that a user's project asks for. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { ToolchainError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import { bestFirst, newestFirst } from '../releases.ts';
import { usualRuntime } from '../runtimes.ts';
import { readNodeManifest, readPipfile, readPyproject } from './manifests.ts';

/** A version that stands alone. */
const EXACT = { python: /^(\d+\.\d+)(?:\.\d+)?$/, node: /^v?(\d+)(?:\.\d+)*$/ };

/** The functions of semver that are called here; it has no types. */
interface Semver {
  minVersion: (range: string) => { major: number } | null;
  intersects: (one: string, other: string) => boolean;
  validRange: (range: string) => string | null;
}

/** Loads the parser of ranges for the first project: most runs have none. */
const semver = (): Semver => createRequire(import.meta.url)('semver') as Semver;

/** The files that ask for a version or a range of each language, best first. */
const SOURCES: Record<'python' | 'node', Record<string, (root: string, file: string) => unknown>> = {
  python: {
    '.python-version': readFirstLine,
    '.tool-versions': (root, file) => readTool(root, file, 'python'),
    'runtime.txt': (root, file) => readFirstLine(root, file)?.replace(/^python-/, ''),
    'pyproject.toml': (root) => readPyproject(root).python,
    Pipfile: (root) => readPipfile(root).python,
  },
  node: {
    '.nvmrc': readFirstLine,
    '.node-version': readFirstLine,
    '.tool-versions': (root, file) => readTool(root, file, 'nodejs'),
    'package.json': (root) => readNodeManifest(root).engines['node'],
  },
};

/** Returns the first line that is no comment: pyenv and uv read it like this too. */
function readFirstLine(root: string, name: string): string | undefined {
  return /^[ \t]*([^#\s].*?)[ \t]*(?:#.*)?$/m.exec(readTextFile(join(root, name)) ?? '')?.[1];
}

function readTool(root: string, name: string, tool: string): string | undefined {
  const text = readTextFile(join(root, name)) ?? '';
  return new RegExp(`^${tool}\\s+(\\S+)`, 'm').exec(text)?.[1];
}

/** Returns what the files of a project ask for, best first: a version that stands alone, or a range. */
function requestsOf(root: string, kind: 'python' | 'node') {
  return Object.entries(SOURCES[kind]).flatMap(([file, read]) => {
    const range = read(root, file);
    return typeof range === 'string' ? [{ file, range, exact: EXACT[kind].exec(range)?.[1] }] : [];
  });
}

/**
 * Returns the version that a project asks for, and the file that does; without a version if Bench does not know it. Undefined if
 * it asks for none, or the default fits. Throws a usage error for a broken `pyproject.toml` or `package.json`.
 */
export function findPinned(
  root: string,
  kind: 'python' | 'node',
): { version?: string; why: string } | undefined {
  const requests = requestsOf(root, kind);
  const usual = usualRuntime(kind);
  for (const { file, range, exact } of requests) {
    const fitting = [usual, ...bestFirst(kind)].find((one) => fits(one, range));
    // The lowest Node of a range that admits none of those known.
    const oldest =
      kind === 'node' && isRange(range) ? semver().minVersion(range)?.major.toString() : undefined;
    const version = exact ?? fitting ?? oldest;
    if (version === undefined) continue;
    return version === usual && exact === undefined ? undefined : { version, why: `${file}: ${range}` };
  }
  const unread = requests.find(({ range }) => !isRange(range));
  return unread && { why: `${unread.file}: ${unread.range}` };
}

/** Returns the versions that a project admits, newest first: the one that it pins, those in its range, or all. */
export function admittedBy(root: string, kind: 'python' | 'node'): string[] {
  const all = newestFirst(kind);
  for (const { range, exact } of requestsOf(root, kind)) {
    if (exact !== undefined) return [exact];
    const fitting = all.filter((one) => fits(one, range));
    if (fitting.length > 0) return fitting;
  }
  return all;
}

/** Throws a toolchain error if the `requires-python` of a project excludes a version, such as 3.10 or 3.10.13. */
export function refuseExcluded({ name, root }: Pick<Stack, 'name' | 'root'>, version: string): void {
  const range = readPyproject(root).python;
  if (range === undefined) return;
  const fitting = newestFirst('python').filter((one) => fits(one, range));
  const [release = version] = /^\d+(\.\d+){0,2}/.exec(version) ?? [];
  // A range that none of them fits may be written in another way than is known here: the installer judges it.
  if (fitting.length === 0 || fits(release, range)) return;
  throw new ToolchainError(
    `${name} does not run on Python ${version}: its pyproject.toml requires ${range}`,
    `of the known versions, ${fitting.join(', ')} ${fitting.length === 1 ? 'fits' : 'fit'}`,
  );
}

/** Returns a range in the notation of semver. Python has `>=3.9,<3.12`, `~=3.9` and `==3.11.*` too. */
function toRange(range: string): string {
  return range
    .replaceAll(/!=[^,]*/g, '')
    .replaceAll(/===?/g, '')
    .replaceAll(/~=(?=\s*\d+\.\d+\.\d)/g, '~')
    .replaceAll('~=', '^')
    .replaceAll(',', ' ');
}

/** Returns true for a range, and false for names such as `pypy3.10` and `lts/*`. */
function isRange(range: string): boolean {
  return semver().validRange(toRange(range)) !== null;
}

/** Returns true if a version, or some patch release of it, is in a range. */
function fits(version: string, range: string): boolean {
  const versions = version.split('.').length > 2 ? version : `${version}.x`;
  const isExcluded = range.replaceAll(' ', '').includes(`!=${version}.*`);
  return !isExcluded && isRange(range) && semver().intersects(versions, toRange(range));
}

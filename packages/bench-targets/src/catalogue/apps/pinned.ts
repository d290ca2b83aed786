/** The version of its runtime that a user's project asks for. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import { bestFirst, newestFirst } from '../releases.ts';
import { usualRuntime } from '../runtimes.ts';
import { readNodeManifest, readPyproject } from './manifests.ts';

/** A version, and the file that asks for it. */
interface Pinned {
  version: string;
  why: string;
}

/** Loads the parsers of ranges for the first project: most runs have none. */
const require = createRequire(import.meta.url);

/** A version that stands alone. */
const EXACT = { python: /^(\d+\.\d+)(?:\.\d+)?$/, node: /^v?(\d+)(?:\.\d+)*$/ };

/** The functions of semver that are called here; it has no types. */
interface Semver {
  minVersion: (range: string) => { major: number } | null;
  intersects: (one: string, other: string) => boolean;
  validRange: (range: string) => string | null;
}

/** More than any release of Python has. */
const PATCHES = 50;

/** The files that ask for a version or a range of each language, best first. */
const SOURCES: Record<'python' | 'node', Record<string, (root: string, file: string) => unknown>> = {
  python: {
    '.python-version': readFirstLine,
    '.tool-versions': (root, file) => readTool(root, file, 'python'),
    'pyproject.toml': readPythonRange,
  },
  node: {
    '.nvmrc': readFirstLine,
    '.node-version': readFirstLine,
    '.tool-versions': (root, file) => readTool(root, file, 'nodejs'),
    'package.json': (root) => readNodeManifest(root).engines?.node,
  },
};

function readFirstLine(root: string, name: string): string | undefined {
  return readTextFile(join(root, name))?.trim().split('\n')[0]?.trim();
}

function readTool(root: string, name: string, tool: string): string | undefined {
  const text = readTextFile(join(root, name)) ?? '';
  return new RegExp(`^${tool}\\s+(\\S+)`, 'm').exec(text)?.[1];
}

function readPythonRange(root: string): unknown {
  const { project, tool } = readPyproject(root);
  return project?.['requires-python'] ?? tool?.poetry?.dependencies?.python;
}

/** What a file of a project asks for: a version that stands alone, or a range. */
interface Request {
  file: string;
  range: string;
  exact: string | undefined;
}

/** Returns what the files of a project ask for, best first. */
function requestsOf(root: string, kind: 'python' | 'node'): Request[] {
  return Object.entries(SOURCES[kind]).flatMap(([file, read]) => {
    const range = read(root, file);
    return typeof range === 'string' ? [{ file, range, exact: EXACT[kind].exec(range)?.[1] }] : [];
  });
}

/**
 * Returns the version that a project asks for; undefined if it asks for none, or the default fits a range. Throws a usage
 * error for a broken `pyproject.toml` or `package.json`.
 */
export function findPinned(root: string, kind: 'python' | 'node'): Pinned | undefined {
  for (const { file, range, exact } of requestsOf(root, kind)) {
    const why = `${file}: ${range}`;
    if (exact !== undefined) return { version: exact, why };
    const usual = usualRuntime(kind);
    const version = [usual, ...bestFirst(kind)].find((one) => FITS[kind](one, range)) ?? OLDER[kind](range);
    if (version !== undefined) return version === usual ? undefined : { version, why };
  }
  return undefined;
}

/** Returns the Python of the image that a project runs in: `FROM python:3.12-slim`. Undefined if its files do not admit that. */
export function pythonOfImage(root: string): Pinned | undefined {
  const text = readTextFile(join(root, 'Dockerfile')) ?? '';
  const [, image = '', version = ''] =
    [...text.matchAll(/^FROM\s+(?:--\S+\s+)?((?:\S+\/)?python:(\d+\.\d+)\S*)/gim)].at(-1) ?? [];
  return admittedBy(root, 'python').includes(version)
    ? { version, why: `Dockerfile: FROM ${image}` }
    : undefined;
}

/** Returns the versions that a project admits, newest first: the one that it pins, those in its range, or all. */
export function admittedBy(root: string, kind: 'python' | 'node'): string[] {
  const all = newestFirst(kind);
  for (const { range, exact } of requestsOf(root, kind)) {
    if (exact !== undefined) return [exact];
    const fitting = all.filter((one) => FITS[kind](one, range));
    if (fitting.length > 0) return fitting;
  }
  return all;
}

/** Throws a toolchain error if the `requires-python` of a project excludes a version, such as 3.10 or 3.10.13. */
export function refuseExcluded({ name, root }: Pick<Stack, 'name' | 'root'>, version: string): void {
  const range = readPythonRange(root);
  if (typeof range !== 'string') return;
  const fitting = newestFirst('python').filter((one) => FITS.python(one, range));
  const [release = version] = /^\d+(\.\d+){0,2}/.exec(version) ?? [];
  // A range that none of them fits may be written in another way than is known here: the installer judges it.
  if (fitting.length === 0 || FITS.python(release, range)) return;
  throw new BenchError(
    'toolchain',
    `${name} does not run on Python ${version}: its pyproject.toml requires ${range}`,
    `of the known versions, ${fitting.join(', ')} ${fitting.length === 1 ? 'fits' : 'fit'}`,
  );
}

/** The lowest version of a range that admits none of those known. */
const OLDER = {
  python: () => undefined,
  node(range: string): string | undefined {
    const { minVersion, validRange } = require('semver') as Semver;
    return validRange(range) === null ? undefined : minVersion(range)?.major.toString();
  },
};

/** True if a version, or some patch release of it, is in a range; false for names such as `pypy3.10` and `lts/*`. */
const FITS = {
  python(version: string, range: string): boolean {
    const { satisfies, validRange } = require('@renovatebot/pep440') as typeof import('@renovatebot/pep440');
    // Poetry has ranges such as ^3.11 too.
    if (!validRange(range)) return FITS.node(version, range.replaceAll(',', ' '));
    const patches = Array.from({ length: PATCHES }, (_, patch) => `${version}.${patch}`);
    return (isExact(version) ? [version] : patches).some((one) => satisfies(one, range));
  },
  node(version: string, range: string): boolean {
    const { intersects, validRange } = require('semver') as Semver;
    const versions = isExact(version) ? version : `${version}.x`;
    return validRange(range) !== null && intersects(versions, range);
  },
};

function isExact(version: string): boolean {
  return version.split('.').length > 2;
}

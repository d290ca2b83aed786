/** The files of a project that is only read. */
import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readTextFile } from 'bench-machine/files';

/** Folders that hold no server, or not that of the project. */
const SKIPPED =
  /^(\..+|node_modules|venv|__pycache__|target|vendor|dist|build|tests?|e2e|docs|migrations|alembic)$/;
/** Examples hold other servers, but com.example is the usual package of a Java project. */
const EXAMPLES = /(?:^|(?<!(?:^|\/)(?:com|org|net|io|dev))\/)examples?\//;
const TESTS = /(^|\/)(test_|conftest)|[._](test|spec)\.\w+$|_test\.go$/;
/** Folders whose packages show the documentation of a project. */
const DOCUMENTS = /(?:^|\/)(?:website|documentation|doc|storybook)(?:\/|$)/;
/** Larger files are generated. */
const MOST_BYTES = 1_000_000;

/** The files that make a folder a project of its own. */
const MANIFESTS =
  '{pyproject.toml,requirements.txt,setup.py,Pipfile,package.json,deno.json,go.mod,Cargo.toml,pom.xml,build.gradle,build.gradle.kts}';

/**
 * Returns files of a project, those nearest to its root first. Tests are left out, and the packages below it, which have one of these
 * `manifests` of their own.
 */
export function filesIn(root: string, pattern: string, manifests: readonly string[] = []): string[] {
  const inner = manifests.flatMap((name) => filesIn(root, `*/**/${name}`)).map((file) => `${dirname(file)}/`);
  return globSync(pattern, { cwd: root, exclude: (name) => SKIPPED.test(basename(name)) })
    .filter((file) => !EXAMPLES.test(file) && !TESTS.test(file))
    .filter((file) => !inner.some((folder) => file.startsWith(folder)))
    .toSorted((a, b) => a.split('/').length - b.split('/').length || a.localeCompare(b));
}

/** Returns the folders of a project that have a manifest, relative to its root: itself (an empty path) first. */
export function foldersOf(root: string): string[] {
  const found = filesIn(root, `{,*/,*/*/,*/*/*/}{${MANIFESTS},*.csproj}`).map((file) => dirname(file));
  const own = found.filter((folder) => folder !== '.' && !DOCUMENTS.test(folder));
  return [...new Set(['', ...own])];
}

/** Returns true if a folder is a project of its own. */
export function hasManifest(folder: string): boolean {
  return globSync(MANIFESTS, { cwd: folder }).length > 0;
}

/** Returns the text of a file; empty if there is none, or it is too long to be written by hand. */
export function readText(...path: string[]): string {
  const file = join(...path);
  return readTextFile(file, file.endsWith('.lock') ? undefined : MOST_BYTES) ?? '';
}

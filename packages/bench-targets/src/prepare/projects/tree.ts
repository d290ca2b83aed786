/** The files of a user's project: listed and copied, never changed. */
import { constants, cpSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { isFile } from 'bench-machine/files';
import { readNames } from 'bench-machine/procfs';
import { digestOf } from '../digest.ts';

/** Folders and files that tools make. */
const MADE = new Set(
  '.git .hg .bench .venv venv .tox .nox __pycache__ .mypy_cache .pytest_cache .ruff_cache node_modules .next .turbo .gradle .cache .idea .vscode .DS_Store'.split(
    ' ',
  ),
);

/** The folders that compilers make beside a manifest. */
const BUILT = new Map([
  ['target', /^(Cargo\.toml|pom\.xml)$/],
  ['build', /^build\.gradle(\.kts)?$/],
  ['bin', /\.(cs|fs)proj$/],
  ['obj', /\.(cs|fs)proj$/],
]);

function isMade({ name, parentPath }: { name: string; parentPath: string }): boolean {
  const manifest = BUILT.get(name);
  return (
    MADE.has(name) || (manifest !== undefined && readNames(parentPath).some((one) => manifest.test(one)))
  );
}

/** Files that can hold secrets: a copy refers to them, so that no secret leaves the project. */
const MAY_BE_SECRET = /^\.(env($|\.)|npmrc$|yarnrc|pypirc$|netrc$)/;

/** Returns true for the name of a file with settings that can hold secrets, such as `.env`. */
export function holdsSettings(name: string): boolean {
  return MAY_BE_SECRET.test(name);
}

/**
 * Returns the files of a project, except for those that tools make. Settings that are links count too: a
 * copy links to those of the checkout.
 */
export function filesOfProject(root: string): string[] {
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => {
    const path = join(root, entry.name);
    if (isMade(entry)) return [];
    if (entry.isDirectory()) return filesOfProject(path);
    return entry.isFile() || (holdsSettings(entry.name) && isFile(path)) ? [path] : [];
  });
}

/** Returns the digest of the names of files in a folder and of their contents, except for those that can hold secrets. */
export function digestOfFiles(root: string, files: readonly string[], extra = ''): string {
  const names = files.map((file) => relative(root, file)).toSorted();
  const open = files.filter((file) => !holdsSettings(basename(file)));
  return digestOf(open, [...names, extra].join('\n'));
}

/**
 * Copies a project without what tools make, and without pipes and sockets. Files that can hold secrets become links to the
 * originals. Throws a usage error for a folder in the project.
 */
export function copyProject(root: string, folder: string): void {
  if (!relative(root, folder).startsWith('..'))
    throw new UsageError(
      `${folder} is in the project itself, so the project cannot be copied there`,
      'name a folder outside of the project in BENCH_CACHE',
    );
  mkdirSync(folder, { recursive: true });
  cpSync(root, folder, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter(source) {
      if (source === root) return true;
      const name = basename(source);
      const entry = lstatSync(source);
      const isKept = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
      if (!isKept || isMade({ name, parentPath: dirname(source) })) return false;
      if (!holdsSettings(name) || !isFile(source)) return true;
      const target = join(folder, relative(root, source));
      mkdirSync(dirname(target), { recursive: true });
      symlinkSync(source, target);
      return false;
    },
  });
}

/**
 * Makes the folders between a repository and a project in it, in a copy of the repository, with links to what else they hold: a
 * project may read `../.env` or the package beside it.
 */
export function linkAround(root: string, whole: string, copy: string): void {
  const [next] = relative(whole, root).split(sep);
  if (next === undefined || next === '') return;
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(whole))
    if (name !== next && !isMade({ name, parentPath: whole }))
      symlinkSync(join(whole, name), join(copy, name));
  linkAround(root, join(whole, next), join(copy, next));
}

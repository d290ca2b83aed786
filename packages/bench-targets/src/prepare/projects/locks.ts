/** The lists from which Python environments are made: the lock of a project, and all files that decide what is installed. */
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isFile, readTextFile } from 'bench-machine/files';
import { ToolchainError } from 'bench-model/errors';
import type { Lock, Stack, Variant } from 'bench-model/stack';
import { readPyproject } from '../../catalogue/projects/manifests.ts';
import { ROOT } from '../../catalogue/stacks.ts';

/**
 * Returns the lock of a variant of Bench: that of its stack, with one for each of its dependency groups. A stack without a
 * `pyproject.toml` has none and runs on the bare interpreter. Throws a toolchain error if one is missing.
 */
export function lockOf({ name, root }: Stack, { groups: named }: Variant): Lock | undefined {
  const [main, ...groups] = ['requirements.txt', ...named.map((group) => `requirements-${group}.txt`)].map(
    (file) => join(root, file),
  ) as [string, ...string[]];
  if (!isFile(main) && groups.length === 0 && !isFile(join(root, 'pyproject.toml'))) return undefined;
  const missing = [main, ...groups].find((file) => !isFile(file));
  if (missing === undefined) return { kind: 'hashed', file: main, groups };
  const file = basename(missing);
  const isOurs = relative(join(ROOT, 'python'), root) === basename(root);
  throw new ToolchainError(
    `${name} has no ${file}: its dependencies are not locked`,
    isOurs
      ? `run python/lock.sh ${basename(root)}`
      : `lock them: uv pip compile --generate-hashes${missing === main ? ' pyproject.toml' : ` --group ${file.slice(13, -4)}`} -o ${file}`,
  );
}

/** Returns the files that decide what is installed. */
export function filesOfLock(root: string, { kind, file, groups = [] }: Lock): string[] {
  const included = kind === 'requirements' ? includedBy(file) : groups;
  const manifests = [join(dirname(file), 'pyproject.toml'), join(root, 'pyproject.toml')];
  return [...new Set([file, ...included, ...manifests])].filter(isFile);
}

/** A dependency that is a folder or a file of the project, in a lock, a manifest or a list of requirements. */
const LOCAL =
  /\b(?:path|directory|editable)\s*=\s*"|\btype\s*=\s*"(?:directory|file)"|^\s*(?:-e|--editable|\.{0,2}\/)|\bfile:/m;

/** Returns true if the environment depends on where the project is, and not only on the files that decide its packages. */
export function dependsOnPlace(root: string, files: readonly string[]): boolean {
  return readPyproject(root).isPackage || files.some((file) => LOCAL.test(readTextFile(file) ?? ''));
}

/** Follows `-r other.txt` and `-c other.txt`. */
function includedBy(file: string, seen = new Set([file])): string[] {
  for (const [, name = ''] of (readTextFile(file) ?? '').matchAll(
    /^\s*(?:-r|-c|--requirement|--constraint)[\s=]+(\S+)/gm,
  )) {
    const other = resolve(dirname(file), name);
    if (seen.has(other) || !isFile(other)) continue;
    seen.add(other);
    includedBy(other, seen);
  }
  return [...seen];
}

/** Returns the versions that a lock file or a list pins, as `name==version`. */
export function pinsOf(lock: string): string[] {
  return [...lock.matchAll(/^[\w.-]+==[^\s;\\]+/gm)].map(([pin]) => pin);
}

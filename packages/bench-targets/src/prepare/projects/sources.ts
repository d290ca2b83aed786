/** The sources of a project: its own files, and those of the packages that its manifests name by path. */
import { globSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isFile, isFolder, readTextFile } from 'bench-machine/files';
import { parentsOf } from 'bench-machine/home';
import type { Stack } from 'bench-model/stack';
import { filesOfProject } from './tree.ts';
import { NODE_LOCKS, workspaceOf } from './workspace.ts';

/** The manifests of packages, and for each language the text that marks a manifest of a workspace. */
const MANIFESTS: Record<string, RegExp> = {
  'go.mod': /$^/,
  'go.work': /^/,
  'Cargo.toml': /^\[workspace\b/m,
  'pyproject.toml': /^\[tool\.uv\.workspace\]/m,
  'setup.py': /$^/,
};

const ARCHIVE = /\.(whl|tar\.gz|zip)$/;
/** The members of a workspace, as in `libs/*`. */
const MEMBERS = /^[\w.-]+(\/[\w.-]+)*\/\*$/;

/**
 * Returns the files of the packages outside a project that it is made from: those that its manifests, those of its workspace
 * and the given files name by path, and the packages that those name in turn.
 */
export function filesOfLocalPackages(root: string, named: readonly string[] = []): string[] {
  const found = new Set<string>();
  const folders = new Set<string>();
  const follow = (manifests: readonly string[]): void => {
    for (const path of manifests.flatMap(placesIn)) {
      const isOwn = path === root || path.startsWith(root + sep);
      if (isOwn || folders.has(path)) continue;
      folders.add(path);
      for (const file of ARCHIVE.test(path) ? [path] : filesOfProject(path)) found.add(file);
      follow(manifestsIn(path));
    }
  };
  follow([...named, ...manifestsIn(root), ...workspacesAbove(root)]);
  return [...found];
}

/** The parts of a stack that say what it is made from. */
type Sourced = Pick<Stack, 'root' | 'project'> & Partial<Pick<Stack, 'runtime'>>;

/** Returns the files that a project is made from, and those of the packages that the given files name by path. */
export function sourcesOf(stack: Sourced, named: readonly string[] = []): string[] {
  const { root, project } = stack;
  const { kind, lock } = project ?? {};
  // A Node workspace is copied and installed as a whole.
  const whole = kind === 'node' && lock !== undefined ? dirname(lock.file) : root;
  return [
    ...new Set([
      ...filesOfProject(whole),
      ...filesOfLocalPackages(root, named),
      ...besideStack(stack).flatMap(filesOfProject),
      ...(project === undefined && stack.runtime === 'node' ? NODE_LOCKS.filter(isFile) : []),
    ]),
  ];
}

/** Returns the packages that a stack of Bench shares with others, as folders. */
export function besideStack({ root, project, runtime }: Sourced): string[] {
  if (project !== undefined) return [];
  if (runtime === 'node') return [...workspaceOf(root)].filter((folder) => folder !== root);
  return runtime === 'python' ? manifestsIn(root).flatMap(placesIn).filter(isPackage) : [];
}

function manifestsIn(folder: string): string[] {
  return Object.keys(MANIFESTS)
    .map((name) => join(folder, name))
    .filter(isFile);
}

/** The manifests of the workspaces that the folder can be a member of, the nearest of each language. */
function workspacesAbove(root: string): string[] {
  const parents = parentsOf(dirname(root));
  return Object.entries(MANIFESTS).flatMap(([name, workspace]) => {
    const files = parents.map((folder) => join(folder, name)).filter(isFile);
    return files.find((file) => workspace.test(readTextFile(file) ?? '')) ?? [];
  });
}

/** Returns the packages and archives that a manifest names by path. Each word that is the path of one counts. */
function placesIn(manifest: string): string[] {
  const folder = dirname(manifest);
  const words = (readTextFile(manifest) ?? '')
    .split(/[\s"'`,=()[\]{}<>;@]+/)
    .map((word) => word.replace(/^file:(\/\/)?/, ''))
    .filter((word) => word !== '' && !word.includes(':'));
  const paths = [...new Set(words)].flatMap((word) =>
    MEMBERS.test(word) ? globSync(word, { cwd: folder }) : word,
  );
  return paths
    .map((path) => resolve(folder, path))
    .filter((path) => path !== folder && (isPackage(path) || (ARCHIVE.test(path) && isFile(path))));
}

function isPackage(path: string): boolean {
  return isFolder(path) && manifestsIn(path).length > 0;
}

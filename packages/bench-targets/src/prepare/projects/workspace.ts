/** The workspace of the Node stacks of Bench, and copies of it with other packages. */
import { globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { NamedPackage } from '../../catalogue/packages.ts';
import { readNodeManifest } from '../../catalogue/projects/manifests.ts';
import { ROOT } from '../../catalogue/stacks.ts';
import { ToolchainError } from 'bench-model/errors';
import type { Lock, Stack } from 'bench-model/stack';
import { runManager } from './node.ts';
import { copyProject } from './tree.ts';

/** The files that pin the versions of a Node stack. */
export const NODE_LOCKS = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((file) => join(ROOT, file));

/** The lock of the Node stacks of Bench. */
export const WORKSPACE_LOCK: Lock = { kind: 'pnpm', file: join(ROOT, 'pnpm-lock.yaml') };

/** Returns the folder of a package and those of the workspace packages that it imports, directly or indirectly. */
export function workspaceOf(root: string, found = new Set<string>()): Set<string> {
  found.add(root);
  const { dependencies } = readNodeManifest(root);
  for (const [name, version] of Object.entries(dependencies)) {
    if (!version.startsWith('workspace:')) continue;
    const member = realpathSync(join(root, 'node_modules', name));
    if (!found.has(member)) workspaceOf(member, found);
  }
  return found;
}

/**
 * Copies the stack and the workspace packages that it imports into `packages` of a separate workspace, and installs the lock
 * there. The given packages replace the locked ones wherever they are a dependency. No install script runs. Throws
 * a toolchain error if pnpm fails, or if the stack does not depend on one of the packages.
 */
export async function installCopy(
  { name: stack, root }: Stack,
  { folder, ...tools }: { folder: string; bins: string[]; version: string },
  packages: readonly NamedPackage[],
): Promise<void> {
  // Node runs no TypeScript below a `node_modules`.
  for (const member of workspaceOf(root)) copyProject(member, join(folder, 'packages', basename(member)));
  writeWorkspace(folder, packages);
  const args = ['install', '--prod', '--ignore-scripts', '--no-frozen-lockfile', '--reporter=append-only'];
  await runManager({ root, lock: WORKSPACE_LOCK, ...tools }, ['pnpm', ...args], folder);
  const stray = packages.find(({ name }) => findModule(folder, name) === undefined);
  if (stray === undefined) return;
  throw new ToolchainError(
    `${stack} does not depend on ${stray.name}`,
    `omit ${stack}, or name one of its dependencies`,
  );
}

function writeWorkspace(folder: string, packages: readonly NamedPackage[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const [lock = '', workspace = ''] = NODE_LOCKS.map((file) => readFileSync(file, 'utf8'));
  writeFileSync(join(folder, 'pnpm-lock.yaml'), lock);
  const settings = {
    overrides: Object.fromEntries(packages.map(({ name, wanted }) => [name, wanted])),
    nodeLinker: 'isolated',
    enableGlobalVirtualStore: false,
    // With hard links, an edit of a checkout would change earlier installations.
    packageImportMethod: 'copy',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), `${workspace}\n${lines.join('')}`);
}

/** Returns the folder of an installed package in a copy, which pnpm made; undefined if it is not installed. */
export function findModule(copy: string, name: string): string | undefined {
  const [manifest] = globSync(`node_modules/.pnpm/*/node_modules/${name}/package.json`, { cwd: copy });
  return manifest === undefined ? undefined : join(copy, manifest, '..');
}

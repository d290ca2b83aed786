import { cpSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { NamedPackage } from '../catalogue/packages.ts';
import { readNodeManifest } from '../catalogue/apps/manifests.ts';
import { ROOT } from '../catalogue/stacks.ts';
import { BenchError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import { HOME } from 'bench-machine/home';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { lastLine } from './failures.ts';
import { provideProgram } from './npm.ts';
import { PNPM_12 } from './pins.ts';
import { unreachedError } from './unreached.ts';

/** The files that pin the versions of a Node stack. */
export const NODE_LOCKS = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((file) => join(ROOT, file));

/** The command that starts pnpm: the one that runs this script, else one that is fetched. */
export async function pnpmCommand(
  path = process.env['npm_execpath'] ?? '',
  cache = HOME.cache,
): Promise<string[]> {
  if (!/^pn(pm)?\b/.test(basename(path))) return provideProgram(PNPM_12, cache);
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path];
}

/** Returns the folder of a package and those of the workspace packages that it imports, directly or indirectly. */
export function workspaceOf(root: string, found = new Set<string>()): Set<string> {
  found.add(root);
  const { dependencies = {} } = readNodeManifest(root);
  for (const [name, version] of Object.entries(dependencies)) {
    if (!version.startsWith('workspace:')) continue;
    const member = realpathSync(join(root, 'node_modules', name));
    if (!found.has(member)) workspaceOf(member, found);
  }
  return found;
}

/** Returns the stack at its place in the environment of its copy. Node runs no TypeScript below a `node_modules`. */
export function copyOf(stack: Stack, folder: string): Stack {
  return { ...stack, root: join(folder, 'packages', basename(stack.original ?? stack.root)) };
}

/**
 * Copies the stack and the workspace packages that it imports into a separate workspace, and installs the lock
 * there. The given packages replace the locked ones wherever they are a dependency. No install script runs. Throws
 * a toolchain error if pnpm fails, or if the stack does not depend on one of the packages.
 */
export async function installCopy(stack: Stack, folder: string, packages: NamedPackage[]): Promise<void> {
  const root = stack.original ?? stack.root;
  for (const member of workspaceOf(root)) {
    cpSync(member === root ? stack.root : member, join(folder, 'packages', basename(member)), {
      recursive: true,
      filter: (source) => basename(source) !== 'node_modules',
    });
  }
  writeWorkspace(folder, packages);
  const args = ['install', '--prod', '--ignore-scripts', '--no-frozen-lockfile', '--reporter=append-only'];
  await run([...(await pnpmCommand()), ...args], { cwd: folder, timeoutMs: 600_000 }).catch(
    (error: SubprocessError) => {
      const unreached = unreachedError('pnpm', `${error.stdout}${error.stderr}`);
      if (unreached !== undefined) throw unreached;
      throw new BenchError(
        'toolchain',
        `pnpm install failed: ${lastLine(error.stderr) || error.message}`,
        packages.map(({ name }) => `pnpm view ${name} versions lists the versions`).join('; '),
      );
    },
  );
  const stray = packages.find(({ name }) => findModule(folder, name) === undefined);
  if (stray === undefined) return;
  throw new BenchError(
    'toolchain',
    `${stack.name} does not depend on ${stray.name}`,
    `omit ${stack.name}, or name one of its dependencies`,
  );
}

function writeWorkspace(folder: string, packages: NamedPackage[]): void {
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

import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { NamedPackage } from '../catalogue/packages.ts';
import { ROOT } from '../catalogue/stacks.ts';
import { BenchError } from '../errors.ts';
import type { Stack } from '../catalogue/stack.ts';
import { lastLine } from './runtimes.ts';
import { unreachedError } from './unreached.ts';

const run = promisify(execFile);

/** What says which versions a Node stack is made of. */
export const NODE_LOCKS = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((file) => join(ROOT, file));

/** The words that start pnpm: the one that runs this script, else one that npx fetches. */
export function pnpmCommand(path = process.env['npm_execpath'] ?? ''): string[] {
  if (!/^pn(pm)?\b/.test(basename(path))) return ['npx', '--yes', 'pnpm@12'];
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path];
}

/** The folder of a package, and those of the workspace packages that it imports, directly or not. */
export function workspaceOf(root: string, found = new Set<string>()): Set<string> {
  found.add(root);
  const manifest = join(root, 'package.json');
  if (!existsSync(manifest)) return found;
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const [name, version] of Object.entries(dependencies)) {
    if (!version.startsWith('workspace:')) continue;
    const member = realpathSync(join(root, 'node_modules', name));
    if (!found.has(member)) workspaceOf(member, found);
  }
  return found;
}

/** Where a copy of the stack lies in the folder of its environment: Node runs no TypeScript below a `node_modules`. */
export function copyOf(stack: Stack, folder: string): Stack {
  return { ...stack, root: join(folder, 'packages', basename(stack.original ?? stack.root)) };
}

/**
 * Copies the stack and the workspace packages that it imports into a folder, as a workspace of its own, and installs
 * there what the lock says, with these packages in place of the locked ones, wherever they are depended on. No install
 * script runs. Throws a toolchain error when pnpm fails, or the stack depends on no such package.
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
  const [command = '', ...words] = pnpmCommand();
  const args = ['install', '--prod', '--ignore-scripts', '--no-frozen-lockfile', '--reporter=append-only'];
  await run(command, [...words, ...args], { cwd: folder, timeout: 600_000 }).catch(
    (error: { stdout?: string; stderr?: string; message: string }) => {
      const unreached = unreachedError('pnpm', `${error.stdout ?? ''}${error.stderr ?? ''}`);
      if (unreached !== undefined) throw unreached;
      throw new BenchError(
        'toolchain',
        `pnpm install failed: ${lastLine(error.stderr) || error.message}`,
        packages.map(({ name }) => `pnpm view ${name} versions lists what there is`).join('; '),
      );
    },
  );
  const stray = packages.find(({ name }) => versionInCopy(folder, name) === undefined);
  if (stray === undefined) return;
  throw new BenchError(
    'toolchain',
    `${stack.name} does not depend on ${stray.name}`,
    `leave ${stack.name} away, or name a package that it is made of`,
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
    // By a hard link, an edit of a checkout would reach what was installed before it.
    packageImportMethod: 'copy',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), `${workspace}\n${lines.join('')}`);
}

/** The version of a package that a copy was installed with; undefined when it was not. */
export function versionInCopy(folder: string, name: string): string | undefined {
  const [manifest] = globSync(`node_modules/.pnpm/*/node_modules/${name}/package.json`, { cwd: folder });
  if (manifest === undefined) return undefined;
  return (JSON.parse(readFileSync(join(folder, manifest), 'utf8')) as { version?: string }).version;
}

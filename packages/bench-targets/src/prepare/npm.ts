/** Packages of npm that Bench fetches for itself, each into a folder of the cache. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolchainError } from 'bench-model/errors';
import { awaitLock } from 'bench-machine/filelock';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { reasonIn } from './failures.ts';
import { unreachedError } from './unreached.ts';

/** A file of a package. */
export interface PackageFile {
  /** The package as npm takes it, e.g. `bun` or `yarn@1.22.22`. */
  wanted: string;
  /** The path of the file in the package. */
  file: string;
  /** The hash of the package, as npm writes it into locks: npm refuses any other content, and fetches nothing else. */
  integrity?: string;
  /** The packages that a pinned one needs, such as `yarn@1.22.22`, with their hashes. */
  needs?: Record<string, string>;
}

/** Returns the path that a file of a package has in its folder. */
export function pathInPackage(folder: string, { wanted, file }: PackageFile): string {
  return join(folder, 'node_modules', split(wanted).name, file);
}

function split(wanted: string): { name: string; version: string } {
  const [, name = wanted, version = ''] = /^(@?[^@]+)(?:@(.*))?$/.exec(wanted) ?? [];
  return { name, version };
}

/** Writes the manifest of a folder, and for a pinned package its lock. Returns the words with which npm fetches the package. */
function order(folder: string, { wanted, integrity, needs }: PackageFile): string[] {
  const write = (name: string, content: object): void =>
    writeFileSync(join(folder, name), `${JSON.stringify(content)}\n`);
  if (integrity === undefined) {
    write('package.json', { private: true });
    return ['install', wanted];
  }
  const pinned = Object.entries({ [wanted]: integrity, ...needs }).map(([one, hash]) => {
    return { ...split(one), integrity: hash };
  });
  const root = { dependencies: Object.fromEntries(pinned.map(({ name, version }) => [name, version])) };
  write('package.json', { private: true, ...root });
  const packages = pinned.map(({ name, ...locked }) => [`node_modules/${name}`, locked] as const);
  write('package-lock.json', {
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, ...Object.fromEntries(packages) },
  });
  return ['ci'];
}

/** Returns the path of a file of a package, which npm fetches if it is missing. Throws a toolchain error if that fails; `what` is its name. */
export async function provideFile(folder: string, found: PackageFile, what: string): Promise<string> {
  const path = pathInPackage(folder, found);
  if (existsSync(path)) return path;
  const hint = `it is part of the npm package ${found.wanted}`;
  using _ = await awaitLock(`${folder}.lock`);
  if (existsSync(path)) return path;
  // Others look for the file without the lock, so it appears at once and complete.
  const fetched = `${folder}.part`;
  for (const old of [fetched, folder]) rmSync(old, { recursive: true, force: true });
  mkdirSync(fetched, { recursive: true });
  const words = [
    ...order(fetched, found),
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefix',
    fetched,
  ];
  await run(['npm', ...words], { timeoutMs: 600_000 }).catch((error: SubprocessError) => {
    const why = unreachedError('npm', error.stderr)?.message ?? (reasonIn(error.stderr) || error.message);
    throw new ToolchainError(`${what} is not installed and npm could not fetch it: ${why}`, hint);
  });
  if (!existsSync(pathInPackage(fetched, found)))
    throw new ToolchainError(`${found.wanted} does not contain ${found.file}`, hint);
  renameSync(fetched, folder);
  return path;
}

/** Returns the words that start a program of npm, which is fetched into the cache if it is missing. Throws a toolchain error. */
export async function provideProgram(found: PackageFile, cache: string): Promise<string[]> {
  const folder = join(cache, 'managers', found.wanted.replaceAll(/\W+/g, '-'));
  return [process.execPath, await provideFile(folder, found, found.wanted)];
}

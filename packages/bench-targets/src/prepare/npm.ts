/** Packages of npm that Bench fetches for itself, each into a folder of the cache. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolchainError } from 'bench-model/errors';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { provideFolder } from './environments.ts';
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
  const { wanted, file } = found;
  const path = join(folder, 'node_modules', split(wanted).name, file);
  const hint = `it is part of the npm package ${wanted}`;
  await provideFolder(folder, async () => {
    mkdirSync(folder, { recursive: true });
    const quiet = '--no-audit --no-fund --ignore-scripts --prefix'.split(' ');
    const words = ['npm', ...order(folder, found), ...quiet, folder];
    await run(words, { timeoutMs: 600_000 }).catch((error: SubprocessError) => {
      const why = unreachedError('npm', error.stderr)?.message ?? (reasonIn(error.stderr) || error.message);
      throw new ToolchainError(`${what} is not installed and npm could not fetch it: ${why}`, hint);
    });
    if (!existsSync(path)) throw new ToolchainError(`${wanted} does not contain ${file}`, hint);
  });
  return path;
}

/** Returns the words that start a program of npm, which is fetched into the cache if it is missing. Throws a toolchain error. */
export async function provideProgram(found: PackageFile, cache: string): Promise<string[]> {
  const folder = join(cache, 'managers', found.wanted.replaceAll(/\W+/g, '-'));
  return [process.execPath, await provideFile(folder, found, found.wanted)];
}

/** The environment of a user's Python project, made from its own lock by uv. The project stays as it is. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Lock } from 'bench-model/stack';
import { BenchError } from 'bench-model/errors';
import { readPyproject } from '../../catalogue/apps/manifests.ts';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { adviseWheels, failedPackage } from '../python.ts';
import { lastLine } from '../runtimes.ts';
import { unreachedError } from '../unreached.ts';
import { differences } from './packages.ts';
import { copyProject } from './tree.ts';

/** The timeout of one step, including builds from source. */
const STEP_MS = 600_000;

/** An environment to make for a project. */
export interface ProjectEnvironment {
  /** The target as named in warnings. */
  target: string;
  /** The folder of the project. */
  root: string;
  lock: Lock;
  /** The folder of the environment. */
  folder: string;
  /** The path of the interpreter, and its version. */
  python: string;
  version: string;
  uv: string;
  /** Packages to install on top of the lock, e.g. `fastapi==0.115`. */
  packages: string[];
}

/** The content of an environment. */
export interface MadeEnvironment {
  /** Every package with its version, e.g. `fastapi==0.115.0`. */
  packages: string[];
  /** The packages whose versions differ from the lock, because others were asked for. */
  changed: string[];
}

/** Returns the files that decide what is installed. */
export function filesOfLock(root: string, { kind, file }: Lock): string[] {
  const included = kind === 'requirements' ? includedBy(file) : [];
  const manifests = [join(dirname(file), 'pyproject.toml'), join(root, 'pyproject.toml')];
  return [...new Set([file, ...included, ...manifests])].filter((one) => existsSync(one));
}

/** A dependency that is a folder or a file of the project, in a lock, a manifest or a list of requirements. */
const LOCAL =
  /\b(?:path|directory|editable)\s*=\s*"|\btype\s*=\s*"(?:directory|file)"|^\s*(?:-e|--editable|\.{0,2}\/)|\bfile:/m;

/** Returns true if the environment depends on where the project is, and not only on the files that decide its packages. */
export function dependsOnPlace(root: string, files: readonly string[]): boolean {
  return isPackage(root) || files.some((file) => LOCAL.test(readFileSync(file, 'utf8')));
}

/** Follows `-r other.txt` and `-c other.txt`. */
function includedBy(file: string, seen = new Set([file])): string[] {
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
    /^\s*(?:-r|-c|--requirement|--constraint)[\s=]+(\S+)/gm,
  )) {
    const other = resolve(dirname(file), name);
    if (seen.has(other) || !existsSync(other)) continue;
    seen.add(other);
    includedBy(other, seen);
  }
  return [...seen];
}

/** Returns true if the project is a package, which its environment then contains. */
export function isPackage(root: string): boolean {
  const { 'build-system': build, tool } = readPyproject(root);
  return build !== undefined && tool?.uv?.package !== false && tool?.poetry?.['package-mode'] !== false;
}

/**
 * Makes the environment of a project. Throws a toolchain error with the reason of the tool if the lock cannot be
 * installed. `log` takes what the user must know.
 */
export async function makeProjectEnvironment(
  spec: ProjectEnvironment,
  log: (line: string) => void,
): Promise<MadeEnvironment> {
  rmSync(spec.folder, { recursive: true, force: true });
  mkdirSync(dirname(spec.folder), { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'bench-project-'));
  try {
    await step(spec, ['venv', '--quiet', '--python', spec.python, spec.folder]);
    const requirements = await requirementsOf(spec, scratch);
    const install = ['pip', 'install', '--python', join(spec.folder, 'bin', 'python')];
    await step(spec, [...install, '-r', requirements]);
    if (isPackage(spec.root)) await installItself(spec, scratch, install, log);
    const locked = await freeze(spec);
    if (spec.packages.length === 0) return { packages: locked, changed: [] };
    await step(spec, [...install, ...spec.packages]);
    const packages = await freeze(spec);
    return { packages, changed: differences(locked, packages) };
  } catch (error) {
    rmSync(spec.folder, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns a file that pip can read, with the exact versions if the lock has them. */
async function requirementsOf(spec: ProjectEnvironment, scratch: string): Promise<string> {
  const { kind, file } = spec.lock;
  if (kind === 'requirements' || kind === 'pyproject') return file;
  const output = join(scratch, 'requirements.txt');
  const text =
    kind === 'uv'
      ? await step(spec, [
          'export',
          '--quiet',
          '--frozen',
          '--no-dev',
          '--no-emit-project',
          '--no-header',
          '--no-annotate',
          '--no-editable',
          '--python',
          spec.python,
          '--project',
          spec.root,
        ])
      : await exportPoetry(spec);
  writeFileSync(output, copyLocal(text, dirname(file), scratch));
  return output;
}

/** Poetry's own plug-in writes the export, because only Poetry reads its lock. */
async function exportPoetry(spec: ProjectEnvironment): Promise<string> {
  const tool = ['tool', 'run', '--quiet', '--from', 'poetry', '--with', 'poetry-plugin-export', 'poetry'];
  return step(spec, [
    ...tool,
    'export',
    '--no-interaction',
    '--format=requirements.txt',
    `--directory=${dirname(spec.lock.file)}`,
  ]);
}

/** Replaces folders in an export by copies: a build in the original would write there. */
function copyLocal(text: string, root: string, scratch: string): string {
  let count = 0;
  return text
    .split('\n')
    .map((line) => {
      const [, path, marker = ''] =
        /^(?:-e\s+)?(?:[\w.-]+\s*@\s*)?(?:file:\/\/)?(\.{1,2}\/[^\s;]*|\.|\/[^\s;]+)(\s*;.*)?$/.exec(line) ??
        [];
      if (path === undefined || /\.(whl|tar\.gz|zip)$/.test(path)) return line;
      const original = isAbsolute(path) ? path : resolve(root, path);
      const copy = join(scratch, `local-${count++}`, basename(original));
      copyProject(original, copy);
      return `${copy}${marker}`;
    })
    .join('\n');
}

/** Installs the project itself from a copy. A project that cannot be built may still run from its folder. */
async function installItself(
  spec: ProjectEnvironment,
  scratch: string,
  install: string[],
  log: (line: string) => void,
): Promise<void> {
  const copy = join(scratch, 'itself', basename(spec.root));
  copyProject(spec.root, copy);
  await step(spec, [...install, '--no-deps', copy]).catch((error: Error) => {
    log(`warning: ${spec.target}: the project itself is not installed: ${error.message}`);
  });
}

/** Lists the packages of an environment by name and version, wherever they came from. */
async function freeze(spec: ProjectEnvironment): Promise<string[]> {
  const python = join(spec.folder, 'bin', 'python');
  const text = await step(spec, ['pip', 'list', '--quiet', '--format=json', '--python', python]);
  const found = JSON.parse(text) as { name: string; version: string }[];
  return found.map(({ name, version }) => `${name}==${version}`);
}

/** Runs one step of uv in the folder of the project and returns its output. */
async function step(spec: ProjectEnvironment, args: string[]): Promise<string> {
  const env = {
    ...process.env,
    // No tool may choose, create or change an environment of the project.
    UV_PROJECT_ENVIRONMENT: spec.folder,
    POETRY_VIRTUALENVS_CREATE: 'false',
    PYTHONDONTWRITEBYTECODE: '1',
    VIRTUAL_ENV: undefined,
  };
  const options = { cwd: spec.root, env, timeoutMs: STEP_MS };
  const { stdout } = await run([spec.uv, ...args], options).catch((error: unknown) => {
    throw error instanceof SubprocessError ? explain(spec, args, error) : error;
  });
  return stdout;
}

function explain(
  { root, lock, version }: ProjectEnvironment,
  args: string[],
  error: SubprocessError,
): BenchError {
  const stderr = error.stderr.trim() === '' ? error.message : error.stderr;
  const unreached = unreachedError('uv', stderr);
  if (unreached !== undefined) return unreached;
  const file = relative(root, lock.file);
  const failed = failedPackage(stderr);
  if (failed !== undefined) {
    return new BenchError(
      'toolchain',
      `${failed.name} ${failed.version} of ${file} has no wheel for Python ${version} and could not be built: ${lastLine(stderr)}`,
      adviseWheels(failed.name, undefined),
    );
  }
  return new BenchError(
    'toolchain',
    `${file} cannot be installed for Python ${version}: ${lastLine(stderr)}`,
    args[0] === 'export' || args[0] === 'tool'
      ? `bring ${file} up to date with its own tool, or name another list: --lock <file>`
      : 'choose another interpreter, or another version with --with',
  );
}

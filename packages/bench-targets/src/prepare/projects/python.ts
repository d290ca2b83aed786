/** The environment of a Python project, made from its own lock by uv. The project stays as it is. */
import { existsSync, globSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { BenchError, ToolchainError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Lock } from 'bench-model/stack';
import { readPipfile, readPyproject } from '../../catalogue/projects/manifests.ts';
import { firstError, lastLine } from '../failures.ts';
import { unreachedError } from '../unreached.ts';
import { pinsOf } from './locks.ts';
import { differences, normalise, pinnedIn } from './packages.ts';
import { copyProject } from './tree.ts';

/** The timeout of one step of uv, including builds from source. */
const STEP_MS = 600_000;

/** The environment of a project. */
interface ProjectEnvironment {
  /** The target as named in warnings. */
  target: string;
  /** The folder of the project, in which uv runs. */
  root: string;
  lock: Lock;
  /** The folder of the virtual environment. */
  folder: string;
  /** The path of the interpreter, and its version. */
  python: string;
  version: string;
  uv: string;
  /** Packages or checkouts to install on top of the lock, e.g. `fastapi==0.115`. */
  packages: string[];
  /** The folders of the packages beside the project that a lock of Bench leaves out. */
  beside: readonly string[];
  /** The day up to which releases of packages count. */
  until?: string | undefined;
}

/**
 * The arguments with which uv makes a virtual environment. It takes the folder of a link for the home of the interpreter, which finds
 * no standard library there.
 */
export function venvArgs({ python, folder }: Pick<ProjectEnvironment, 'python' | 'folder'>): string[] {
  return ['venv', '--quiet', '--python', existsSync(python) ? realpathSync(python) : python, folder];
}

/** Returns the folder of all compiled modules of a project, which stays as it is; "" for a stack of Bench, which is in its environment. */
export function bytecodeIn(folder: string, root: string, lock?: Lock): string {
  return lock?.kind === 'hashed' && readPyproject(root).isPackage ? '' : join(folder, 'bytecode');
}

/** Returns the path of the interpreter in an environment. */
export function pythonIn(folder: string): string {
  return join(folder, 'bin', 'python');
}

/** A project whose packages are listed, but not installed. */
type Listed = Omit<ProjectEnvironment, 'folder' | 'packages' | 'beside'>;

/**
 * The content of an environment: every package with its version, e.g. `fastapi==0.115.0`, and those whose versions differ from the
 * lock, because others were asked for.
 */
export type MadeEnvironment = Record<'packages' | 'changed', string[]>;

/**
 * Makes the environment of a project. Throws a toolchain error with the reason of the tool if the lock cannot be
 * installed. `log` takes what the user must know.
 */
export async function makeProjectEnvironment(
  spec: ProjectEnvironment,
  log: (line: string) => void,
): Promise<MadeEnvironment> {
  using draft = makeScratch();
  const scratch = draft.path;
  await step(spec, venvArgs(spec));
  const requirements = await requirementsOf(spec, scratch);
  // Its first server would else compile the packages, and start later than the others.
  const install = ['pip', 'install', '--compile-bytecode', '--python', pythonIn(spec.folder)];
  // venv itself brought setuptools until 3.12, and pkg_resources left it with 81. The list may replace it, and compiles all.
  if (Number(spec.version.split('.')[1]) < 12 && spec.lock.kind !== 'hashed')
    await step(spec, ['pip', 'install', '--python', pythonIn(spec.folder), 'setuptools<81']);
  const pins = await installLocked(spec, install, { requirements, scratch });
  if (readPyproject(spec.root).isPackage) await installItself(spec, scratch, install, log);
  const locked = await freeze(spec);
  if (spec.packages.length === 0) return { packages: locked, changed: [] };
  // Python takes compiled code by time and size alone, and uv unpacks several versions in one second.
  for (const compiled of globSync('{bytecode,lib/**/__pycache__}', { cwd: spec.folder }))
    rmSync(join(spec.folder, compiled), { recursive: true, force: true });
  await step(spec, [...install, ...spec.packages]);
  const packages = await freeze(spec);
  const before = pins === undefined ? locked : [...packages, ...pins];
  return { packages, changed: differences(before, packages) };
}

/** Makes a folder for drafts, which disposing removes. */
function makeScratch(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'bench-project-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Installs the packages of a list. If one of them cannot be installed, and others were asked for, installs the list with these in place of its own: they may
 * need other versions of the rest. Returns what the list pins in that case. Throws a toolchain error if that fails too.
 */
async function installLocked(
  spec: ProjectEnvironment,
  install: readonly string[],
  { requirements, scratch }: { requirements: string; scratch: string },
): Promise<string[] | undefined> {
  const { kind, groups = [] } = spec.lock;
  const words = [...install, ...[requirements, ...groups].flatMap((list) => ['-r', list])];
  try {
    await step(spec, kind === 'hashed' ? [...words, '--no-deps', '--require-hashes'] : words);
    return undefined;
  } catch (error) {
    const asked = pinsOf(spec.packages.join('\n'));
    if (asked.length === 0) throw error;
    const overrides = join(scratch, 'overrides.txt');
    writeFileSync(overrides, asked.join('\n'));
    await step(spec, [...words, '--overrides', overrides]);
    return [requirements, ...groups].flatMap((list) => pinsOf(readTextFile(list) ?? ''));
  }
}

/** More packages without a wheel than a lock has that can be installed. */
const MOST_MISSING = 20;

/** Returns the packages of a lock without a wheel for an interpreter; undefined if their index does not tell. */
export async function packagesWithoutWheel(spec: Listed): Promise<string[] | undefined> {
  using draft = makeScratch();
  const bare = { ...spec, folder: draft.path, packages: [], beside: [] };
  const compile = 'pip compile --quiet --only-binary :all: --no-deps --no-header --output-file'.split(' ');
  const missing: string[] = [];
  try {
    const requirements = await requirementsOf(bare, draft.path);
    while (missing.length < MOST_MISSING) {
      const built = missing.flatMap((name) => ['--no-binary', name]);
      const output = join(draft.path, 'wheels.txt');
      const words = [...compile, output, '--python', spec.python, ...built, requirements];
      const why = await step(bare, words).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (why === undefined) return missing;
      const name = /([\w.-]+)(?:\[[^\]]*\])?(?:\{[^}]*\})?==\S+ has no (?:usable )?wheels/.exec(why)?.[1];
      if (name === undefined || missing.includes(name)) return undefined;
      missing.push(name);
    }
    return missing;
  } catch (error) {
    if (error instanceof BenchError) return undefined;
    throw error;
  }
}

/** The newest release of a package that a project admits, and the locked one if a lock names it. */
export interface Release {
  newest: string;
  locked?: string;
  /** True if the project admits only the locked one: the newest is that of all. */
  isBeyond?: true;
}

/**
 * Finds the newest release of a package that the dependencies of a project admit together, or of all if they admit none but the locked
 * one. Without a list of dependencies in `pyproject.toml`, any release is admitted. Throws a toolchain error with the reason of uv if
 * it finds none.
 */
export async function findRelease(spec: Listed, name: string): Promise<Release> {
  using draft = makeScratch();
  const asked = { ...spec, folder: draft.path, packages: [], beside: [] };
  const list = join(draft.path, 'wanted.in');
  const resolved = join(draft.path, 'resolved.txt');
  writeFileSync(list, `${name}\n`);
  const declared =
    readPyproject(spec.root).dependencies === undefined ? [] : [join(spec.root, 'pyproject.toml')];
  const words = 'pip compile --quiet --no-header --no-annotate --upgrade --output-file'.split(' ');
  const versionIn = (file: string) => pinnedIn(file).find(([own]) => own === normalise(name))?.[1];
  const newestIn = async (lists: readonly string[]): Promise<string> => {
    await step(asked, [...words, resolved, '--python', spec.python, ...lists, list]);
    const found = versionIn(resolved);
    if (found !== undefined) return found;
    throw new ToolchainError(`uv finds no release of ${name}`, `name a version: --with ${name}==…`);
  };
  const newest = await newestIn(declared);
  const locked = versionIn(await requirementsOf(asked, draft.path));
  if (newest !== locked || declared.length === 0) return { newest, ...present({ locked }) };
  return { newest: await newestIn([]), locked, isBeyond: true };
}

const EXPORT_UV =
  'export --quiet --frozen --no-dev --no-emit-project --no-header --no-annotate --no-editable'.split(' ');
/** Poetry's own plug-in writes the export, because only Poetry reads its lock. */
const EXPORT_POETRY =
  'tool run --quiet --from poetry --with poetry-plugin-export poetry export --no-interaction --format=requirements.txt'.split(
    ' ',
  );

/** Returns a file that pip can read, with the exact versions if the lock has them. */
async function requirementsOf(spec: ProjectEnvironment, scratch: string): Promise<string> {
  const { kind, file } = spec.lock;
  if (kind === 'requirements' || kind === 'hashed' || kind === 'pyproject') return file;
  const output = join(scratch, 'requirements.txt');
  if (kind === 'pipfile') {
    writeFileSync(output, readPipfile(dirname(file)).requirements.join('\n'));
    return output;
  }
  const exporter =
    kind === 'uv'
      ? [...EXPORT_UV, '--python', spec.python, '--project', spec.root]
      : [...EXPORT_POETRY, `--directory=${dirname(file)}`];
  const name = relative(spec.root, file);
  const hint = `bring ${name} up to date with its own tool, or name another list: --lock <file>`;
  writeFileSync(output, copyLocal(await step(spec, exporter, hint), dirname(file), scratch));
  return output;
}

/** Makes the paths in an export absolute, and replaces folders by copies: a build in the original would write there. */
function copyLocal(text: string, root: string, scratch: string): string {
  let count = 0;
  return text
    .split('\n')
    .map((line) => {
      const [, path, marker = ''] =
        /^(?:-e\s+)?(?:[\w.-]+\s*@\s*)?(?:file:\/\/)?(\.{1,2}\/[^\s;]*|\.|\/[^\s;]+)(\s*[;\\].*)?$/.exec(
          line,
        ) ?? [];
      if (path === undefined) return line;
      const original = isAbsolute(path) ? path : resolve(root, path);
      if (/\.(whl|tar\.gz|zip)$/.test(path)) return line.replace(path, original);
      const copy = join(scratch, `local-${count++}`, basename(original));
      copyProject(original, copy);
      return `${copy}${marker}`;
    })
    .join('\n');
}

/**
 * Installs the project itself from a copy, with the packages beside it. The project of a user that cannot be built may still run
 * from its folder. Throws a toolchain error for a stack of Bench.
 */
async function installItself(
  spec: ProjectEnvironment,
  scratch: string,
  install: string[],
  log: (line: string) => void,
): Promise<void> {
  const copies = [...spec.beside, spec.root].map((folder) => {
    const copy = join(scratch, 'itself', basename(folder));
    copyProject(folder, copy);
    return copy;
  });
  await step(spec, [...install, '--no-deps', ...copies]).catch((error: Error) => {
    if (spec.lock.kind === 'hashed') throw error;
    log(`warning: ${spec.target}: the project itself is not installed: ${error.message}`);
  });
}

/** Lists the packages of an environment by name and version, wherever they came from. */
async function freeze(spec: ProjectEnvironment): Promise<string[]> {
  const list = ['pip', 'list', '--quiet', '--format=json', '--python', pythonIn(spec.folder)];
  const found = JSON.parse(await step(spec, list)) as { name: string; version: string }[];
  return found.map(({ name, version }) => `${name}==${version}`);
}

/** Runs one step of uv in the folder of the project and returns its output. Throws a toolchain error with the reason of uv if it fails. */
async function step(
  { uv, root, version, folder, lock, until }: ProjectEnvironment,
  args: string[],
  hint = 'choose another interpreter, or another version with --with',
): Promise<string> {
  const env = {
    ...process.env,
    // No tool may choose, create or change an environment of the project.
    UV_PROJECT_ENVIRONMENT: folder,
    POETRY_VIRTUALENVS_CREATE: 'false',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPYCACHEPREFIX: bytecodeIn(folder, root, lock),
    VIRTUAL_ENV: undefined,
    ...(until === undefined ? {} : { UV_EXCLUDE_NEWER: until }),
  };
  const ran = run([uv, ...args], { cwd: root, timeoutMs: STEP_MS, env });
  const { stdout } = await ran.catch((error: unknown) => {
    if (!(error instanceof SubprocessError)) throw error;
    const stderr = error.stderr.trim() === '' ? error.message : error.stderr;
    const unreached = unreachedError('uv', stderr);
    if (unreached !== undefined) throw unreached;
    const what = lock.kind === 'hashed' ? basename(root) : relative(root, lock.file);
    const [, name, failed] =
      /Failed to (?:download and )?build:? `?([\w.-]+)(?:==([^\s`]+))?/.exec(stderr) ?? [];
    const why = (name === undefined ? undefined : firstError(stderr)?.join('\n')) ?? lastLine(stderr);
    if (name === undefined)
      throw new ToolchainError(`${what} cannot be installed for Python ${version}: ${why}`, hint);
    throw new ToolchainError(
      `${[name, failed].filter(Boolean).join(' ')} of ${what} has no wheel for Python ${version} and could not be built: ${why}`,
      'choose an interpreter for which it has wheels, name a newer version with --with, or install what its build needs',
    );
  });
  return stdout;
}

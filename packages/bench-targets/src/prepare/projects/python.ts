/** The environment of a user's Python project, made from its own lock by uv. The project stays as it is. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isFile, readTextFile } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Lock } from 'bench-model/stack';
import { readPyproject } from '../../catalogue/apps/manifests.ts';
import { pinsOf, pythonIn, runUv, venvArgs, type PythonEnvironment } from '../python.ts';
import { normalise } from '../uv.ts';
import { differences } from './packages.ts';
import { copyProject } from './tree.ts';

/** The environment of a project. */
interface ProjectEnvironment extends PythonEnvironment {
  /** The target as named in warnings. */
  target: string;
  lock: Lock;
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
  return [...new Set([file, ...included, ...manifests])].filter(isFile);
}

/** A dependency that is a folder or a file of the project, in a lock, a manifest or a list of requirements. */
const LOCAL =
  /\b(?:path|directory|editable)\s*=\s*"|\btype\s*=\s*"(?:directory|file)"|^\s*(?:-e|--editable|\.{0,2}\/)|\bfile:/m;

/** Returns true if the environment depends on where the project is, and not only on the files that decide its packages. */
export function dependsOnPlace(root: string, files: readonly string[]): boolean {
  return isPackage(root) || files.some((file) => LOCAL.test(readTextFile(file) ?? ''));
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
  const scratch = mkdtempSync(join(tmpdir(), 'bench-project-'));
  try {
    await step(spec, venvArgs(spec));
    const requirements = await requirementsOf(spec, scratch);
    const install = ['pip', 'install', '--python', pythonIn(spec.folder)];
    // venv itself brought setuptools until 3.12, and pkg_resources left it with 81.
    if (isBelow312(spec.version)) await step(spec, [...install, 'setuptools<81']);
    const pins = await installLocked(spec, install, { requirements, scratch });
    if (isPackage(spec.root)) await installItself(spec, scratch, install, log);
    const locked = await freeze(spec);
    if (spec.packages.length === 0) return { packages: locked, changed: [] };
    await step(spec, [...install, ...spec.packages]);
    const packages = await freeze(spec);
    const before = pins === undefined ? locked : [...packages, ...pins];
    return { packages, changed: differences(before, packages) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
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
  const words = [...install, '-r', requirements];
  try {
    await step(spec, words);
    return undefined;
  } catch (error) {
    const asked = pinsOf(spec.packages.join('\n'));
    if (asked.length === 0) throw error;
    const overrides = join(scratch, 'overrides.txt');
    writeFileSync(overrides, asked.join('\n'));
    await step(spec, [...words, '--overrides', overrides]);
    return pinsOf(readTextFile(requirements) ?? '');
  }
}

function isBelow312(version: string): boolean {
  return Number(version.split('.')[1]) < 12;
}

/** More packages without a wheel than a lock has that can be installed. */
const MOST_MISSING = 20;

/**
 * Returns the packages of a lock that have no wheel for an interpreter, by the index of its packages. Undefined if it cannot
 * be asked.
 */
export async function packagesWithoutWheel(
  spec: Omit<ProjectEnvironment, 'folder' | 'packages'>,
): Promise<string[] | undefined> {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-wheels-'));
  const bare = { ...spec, folder: scratch, packages: [] };
  const missing: string[] = [];
  try {
    const requirements = await requirementsOf(bare, scratch);
    const compile = 'pip compile --quiet --only-binary :all: --no-deps --no-header --output-file'.split(' ');
    while (missing.length < MOST_MISSING) {
      const built = missing.flatMap((name) => ['--no-binary', name]);
      const words = [
        ...compile,
        join(scratch, 'wheels.txt'),
        '--python',
        spec.python,
        ...built,
        requirements,
      ];
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
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The newest release of a package that a project admits, and the locked one if a lock names it. */
export interface Release {
  newest: string;
  locked?: string;
}

/**
 * Finds the newest release of a package that the dependencies of a project admit together, and the locked one. Without a list of
 * dependencies in `pyproject.toml`, any release is admitted. Throws a toolchain error with the reason of uv if it finds none.
 */
export async function findRelease(
  spec: Omit<ProjectEnvironment, 'folder' | 'packages'>,
  name: string,
): Promise<Release> {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-release-'));
  try {
    const asked = { ...spec, folder: scratch, packages: [] };
    const list = join(scratch, 'wanted.in');
    writeFileSync(list, `${name}\n`);
    const declared =
      readPyproject(spec.root).project?.dependencies === undefined ? [] : [join(spec.root, 'pyproject.toml')];
    const words = 'pip compile --quiet --no-header --no-annotate --upgrade --output-file'.split(' ');
    const resolved = join(scratch, 'resolved.txt');
    await step(asked, [...words, resolved, '--python', spec.python, ...declared, list]);
    const newest = versionIn(resolved, name);
    if (newest === undefined)
      throw new BenchError(
        'toolchain',
        `uv finds no release of ${name}`,
        `name a version: --with ${name}==…`,
      );
    return { newest, ...present({ locked: versionIn(await requirementsOf(asked, scratch), name) }) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns the version to which a list of requirements pins a package. */
function versionIn(file: string, name: string): string | undefined {
  const pins = (readTextFile(file) ?? '').matchAll(/^\s*([\w.-]+)(?:\[[^\]]*\])?\s*==\s*([^\s;#\\,]+)/gm);
  return [...pins].find(([, own = '']) => normalise(own) === normalise(name))?.[2];
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
  if (kind === 'requirements' || kind === 'pyproject') return file;
  const output = join(scratch, 'requirements.txt');
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
  const list = ['pip', 'list', '--quiet', '--format=json', '--python', pythonIn(spec.folder)];
  const text = await step(spec, list);
  const found = JSON.parse(text) as { name: string; version: string }[];
  return found.map(({ name, version }) => `${name}==${version}`);
}

/** Runs one step of uv in the folder of the project and returns its output. */
async function step(spec: ProjectEnvironment, args: string[], hint?: string): Promise<string> {
  const env = {
    ...process.env,
    // No tool may choose, create or change an environment of the project.
    UV_PROJECT_ENVIRONMENT: spec.folder,
    POETRY_VIRTUALENVS_CREATE: 'false',
    PYTHONDONTWRITEBYTECODE: '1',
    VIRTUAL_ENV: undefined,
  };
  const what = relative(spec.root, spec.lock.file);
  const { stdout } = await runUv(spec, args, { env, what, ...(hint === undefined ? {} : { hint }) });
  return stdout;
}

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT } from '../catalogue/stacks.ts';
import type { Stack, Variant } from 'bench-model/stack';
import { BenchError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { lastLine } from './runtimes.ts';
import { unreachedError } from './unreached.ts';

/** The timeout of one step of uv, including builds from source. */
const STEP_MS = 600_000;

/** The number of versions with a wheel that an error lists. */
const LISTED_VERSIONS = 5;

/** A Python environment to create. */
export interface EnvironmentSpec {
  /** The folder of the virtual environment. */
  folder: string;
  /** The target as named in errors. */
  target: string;
  stack: Stack;
  variant: Variant;
  /** The path of the interpreter, and its version. */
  python: string;
  version: string;
  uv: string;
  /** Packages or checkouts to install on top of the locks. */
  packages: string[];
  /**
   * True if a locked version without a wheel for this interpreter may be replaced by the newest version that has
   * one.
   */
  resolve: boolean;
}

/** The differences between an environment and its locks. */
export interface Made {
  /** Packages that were built from source, as `name==version`. */
  built: string[];
  /** Packages that `--resolve` installed in another version, e.g. `httptools 0.8.0 instead of 0.9.0`. */
  resolved: string[];
}

/**
 * Returns the lock files of a variant: that of its stack, and one for each of its dependency groups. A stack
 * without a `pyproject.toml` has none and runs on the bare interpreter. Throws a toolchain error if a lock is
 * missing.
 */
export function locksOf(stack: Stack, { groups }: Variant): string[] {
  const locks = ['requirements.txt', ...groups.map((group) => `requirements-${group}.txt`)];
  const isLocked = existsSync(join(stack.root, 'requirements.txt'));
  if (!isLocked && groups.length === 0 && !existsSync(join(stack.root, 'pyproject.toml'))) return [];
  const missing = locks.find((file) => !existsSync(join(stack.root, file)));
  if (missing === undefined) return locks.map((file) => join(stack.root, file));
  const isOurs = relative(join(ROOT, 'python'), stack.root) === basename(stack.root);
  throw new BenchError(
    'toolchain',
    `${stack.name} has no ${missing}: its dependencies are not locked`,
    isOurs
      ? `run python/lock.sh ${basename(stack.root)}`
      : `lock them: uv pip compile --generate-hashes${missing === 'requirements.txt' ? ' pyproject.toml' : ` --group ${missing.slice(13, -4)}`} -o ${missing}`,
  );
}

/**
 * Creates a virtual environment from the locks of a variant. If a package has no wheel for this interpreter and
 * cannot be built, throws a toolchain error that names it and the versions that have one.
 */
export async function makeEnvironment(spec: EnvironmentSpec, log: (doing: string) => void): Promise<Made> {
  const { folder, stack, python } = spec;
  const contract = join(stack.original ?? stack.root, '..', 'contract');
  const own = [contract, stack.root].filter((one) => existsSync(join(one, 'pyproject.toml')));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  await step(spec, ['venv', '--python', python, folder]);
  const made = await installLocked(spec, log);
  const install = ['pip', 'install', '--compile-bytecode', ...into(spec)];
  if (own.length > 0) made.built.push(...(await step(spec, [...install, '--no-deps', ...own])));
  if (spec.packages.length > 0) made.built.push(...(await step(spec, [...install, ...spec.packages])));
  return made;
}

function into({ folder }: EnvironmentSpec): string[] {
  return ['--python', join(folder, 'bin', 'python')];
}

async function installLocked(spec: EnvironmentSpec, log: (doing: string) => void): Promise<Made> {
  const locks = locksOf(spec.stack, spec.variant);
  const sync = ['pip', 'sync', '--require-hashes', '--compile-bytecode', ...into(spec)];
  try {
    await run([spec.uv, ...sync, '--no-build', ...locks], { cwd: spec.stack.root, timeoutMs: STEP_MS });
    return { built: [], resolved: [] };
  } catch (error) {
    // A missing wheel is the usual cause; the second attempt reports any other error.
    const lacking = /([\w.-]+)==(\S+) has no (?:usable )?wheels/.exec(stderrOf(error));
    const name = lacking === null ? 'a package' : `${lacking[1]} ${lacking[2]}`;
    if (spec.resolve) return resolveLocks(spec, locks, sync);
    log(`building ${name} from source: it has no wheel for Python ${spec.version}`);
    return { built: await step(spec, [...sync, ...locks]), resolved: [] };
  }
}

/** Installs the locked versions that have wheels, and the newest version with a wheel of every other package. */
async function resolveLocks(spec: EnvironmentSpec, locks: string[], sync: string[]): Promise<Made> {
  const { folder, stack, variant } = spec;
  const locked = locks.map((file) => readFileSync(file, 'utf8')).join('\n');
  const output = join(folder, 'resolved.txt');
  // uv keeps the versions of an existing output file if possible.
  writeFileSync(output, locked);
  const format = [
    '--generate-hashes',
    '--no-header',
    '--no-annotate',
    '--no-emit-index-url',
    '--no-emit-find-links',
  ];
  const sources = variant.groups.flatMap((group) => ['--group', group]);
  await step(spec, [
    'pip',
    'compile',
    '--quiet',
    '--no-build',
    ...format,
    '--no-emit-package',
    'bench-contract',
    '--output-file',
    output,
    ...into(spec),
    ...sources,
    join(stack.root, 'pyproject.toml'),
  ]);
  await step(spec, [...sync, '--no-build', output]);
  return { built: [], resolved: differencesOf(pinsOf(locked), pinsOf(readFileSync(output, 'utf8'))) };
}

/** Returns the versions that a lock file pins, by package. */
function pinsOf(lock: string): Map<string, string> {
  return new Map(
    [...lock.matchAll(/^([\w.-]+)==([^\s;\\]+)/gm)].map(([, name = '', version = '']) => [name, version]),
  );
}

function differencesOf(locked: Map<string, string>, taken: Map<string, string>): string[] {
  return [...taken].flatMap(([name, version]) => {
    const before = locked.get(name);
    if (before === version) return [];
    return [
      before === undefined
        ? `${name} ${version}, which is not locked`
        : `${name} ${version} instead of ${before}`,
    ];
  });
}

/** Runs one step of uv. Returns the packages that it built from source. */
async function step(spec: EnvironmentSpec, args: string[]): Promise<string[]> {
  const { stderr } = await run([spec.uv, ...args], { cwd: spec.stack.root, timeoutMs: STEP_MS }).catch(
    async (error: unknown) => {
      throw await explain(spec, args, stderrOf(error));
    },
  );
  return [...stderr.matchAll(/^\s*Built (\S+==\S+)/gm)].map(([, name = '']) => name);
}

function stderrOf(error: unknown): string {
  return error instanceof SubprocessError ? error.stderr || error.message : String(error);
}

async function explain(spec: EnvironmentSpec, args: string[], stderr: string): Promise<BenchError> {
  const { target, version } = spec;
  const unreached = unreachedError('uv', stderr);
  if (unreached !== undefined) return unreached;
  const failed = failedPackage(stderr);
  if (failed === undefined) {
    return new BenchError(
      'toolchain',
      `${target} on Python ${version}: uv ${args.slice(0, 2).join(' ')} failed: ${lastLine(stderr)}`,
      commandLine('clean environments, then try again'),
    );
  }
  const wheels = await wheelsOf(failed.name, spec);
  return new BenchError(
    'toolchain',
    `${failed.name} ${failed.version} has no wheel for Python ${version} and could not be built: ${lastLine(stderr)}`,
    adviseWheels(failed.name, wheels),
  );
}

/** Returns the package that uv could not build, parsed from its stderr. */
export function failedPackage(stderr: string): { name: string; version: string } | undefined {
  const [, name, version] = /Failed to (?:download and )?build:? `?([\w.-]+)==([^\s`]+)`?/.exec(stderr) ?? [];
  return name === undefined || version === undefined ? undefined : { name, version };
}

/** Suggests a remedy for a package without a wheel. `wheels` are the versions that have one, oldest first. */
export function adviseWheels(name: string, wheels: string[] | undefined): string {
  if (wheels === undefined)
    return 'choose an interpreter for which it has wheels, or install its build dependencies';
  if (wheels.length === 0)
    return `no version of ${name} has a wheel for this interpreter: choose another interpreter`;
  const listed = wheels.slice(-LISTED_VERSIONS).toReversed().join(', ');
  return `versions of ${name} with a wheel: ${listed}${wheels.length > LISTED_VERSIONS ? ' and older' : ''}; --resolve takes the newest version that fits`;
}

/**
 * Returns the versions of a package with a wheel for the interpreter, oldest first; undefined if they cannot be
 * determined.
 */
async function wheelsOf(name: string, spec: EnvironmentSpec): Promise<string[] | undefined> {
  const args = [
    '-m',
    'pip',
    '--python',
    join(spec.folder, 'bin', 'python'),
    'install',
    '--dry-run',
    '--no-deps',
  ];
  // A version that does not exist: pip then lists the versions that it could have installed.
  const told = await run(['python3', ...args, '--only-binary', ':all:', `${name}==0.dev0`], {
    timeoutMs: 60_000,
  }).catch((error: unknown) => ({ stderr: stderrOf(error) }));
  const [, versions] = /\(from versions: ([^)]*)\)/.exec(told.stderr) ?? [];
  if (versions === undefined) return undefined;
  return versions === 'none' ? [] : versions.split(', ');
}

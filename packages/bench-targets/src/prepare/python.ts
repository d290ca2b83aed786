/** Python environments, made by uv: those of stacks here, those of the projects of users in `projects/python.ts`. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT } from '../catalogue/stacks.ts';
import type { Stack, Variant } from 'bench-model/stack';
import { BenchError } from 'bench-model/errors';
import { run, SubprocessError, type Output } from 'bench-machine/subprocess';
import { firstError, lastLine } from './failures.ts';
import { unreachedError } from './unreached.ts';

/** The timeout of one step of uv, including builds from source. */
const STEP_MS = 600_000;

/** A Python environment to make. */
export interface PythonEnvironment {
  /** The folder of the virtual environment. */
  folder: string;
  /** The folder of the program, in which uv runs. */
  root: string;
  /** The path of the interpreter, and its version. */
  python: string;
  version: string;
  uv: string;
  /** Packages or checkouts to install on top of the lock, e.g. `fastapi==0.115`. */
  packages: string[];
}

/**
 * The arguments with which uv makes a virtual environment. It takes the folder of a link for the home of the interpreter, which finds
 * no standard library there.
 */
export function venvArgs({ python, folder }: Pick<PythonEnvironment, 'python' | 'folder'>): string[] {
  return ['venv', '--quiet', '--python', existsSync(python) ? realpathSync(python) : python, folder];
}

/** The environment of a stack. */
interface StackEnvironment extends PythonEnvironment {
  stack: Stack;
  variant: Variant;
}

/** An environment that was made. */
export interface Made {
  /** Packages that were built from source, as `name==version`. */
  built: string[];
}

/** Returns the path of the interpreter in an environment. */
export function pythonIn(folder: string): string {
  return join(folder, 'bin', 'python');
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

/** Creates a virtual environment from the locks of a variant. Throws a toolchain error if that fails. */
export async function makeEnvironment(spec: StackEnvironment): Promise<Made> {
  const { folder, stack } = spec;
  const contract = join(stack.original ?? stack.root, '..', 'contract');
  const own = [contract, stack.root].filter((one) => existsSync(join(one, 'pyproject.toml')));
  const step = async (args: string[]): Promise<string[]> => {
    const { stderr } = await runUv(spec, args, { what: stack.name });
    return [...stderr.matchAll(/^\s*Built (\S+==\S+)/gm)].map(([, name = '']) => name);
  };
  await step(venvArgs(spec));
  const into = ['--compile-bytecode', '--python', pythonIn(folder)];
  const locks = locksOf(stack, spec.variant);
  const built = await step(['pip', 'sync', '--require-hashes', ...into, ...locks]);
  const install = ['pip', 'install', ...into];
  if (own.length > 0) built.push(...(await step([...install, '--no-deps', ...own])));
  if (spec.packages.length > 0) built.push(...(await step([...install, ...spec.packages])));
  return { built };
}

/** Returns the versions that a lock file or a list pins, as `name==version`. */
export function pinsOf(lock: string): string[] {
  return [...lock.matchAll(/^[\w.-]+==[^\s;\\]+/gm)].map(([pin]) => pin);
}

/** How uv runs, and how its errors read. */
interface UvOptions {
  env?: NodeJS.ProcessEnv;
  /** What is installed, as named in errors: a stack or a lock. */
  what: string;
  /** What the user can do if it fails. */
  hint?: string;
}

/** Runs one step of uv for an environment. Throws a toolchain error with the reason of uv if it fails. */
export async function runUv(
  { uv, root, version }: PythonEnvironment,
  args: string[],
  { env, what, hint = 'choose another interpreter, or another version with --with' }: UvOptions,
): Promise<Output> {
  const options = { cwd: root, timeoutMs: STEP_MS, ...(env === undefined ? {} : { env }) };
  return run([uv, ...args], options).catch((error: unknown) => {
    if (!(error instanceof SubprocessError)) throw error;
    const stderr = error.stderr.trim() === '' ? error.message : error.stderr;
    const unreached = unreachedError('uv', stderr);
    if (unreached !== undefined) throw unreached;
    const [, name, failed] =
      /Failed to (?:download and )?build:? `?([\w.-]+)(?:==([^\s`]+))?/.exec(stderr) ?? [];
    const why = (name === undefined ? undefined : firstError(stderr)?.join('\n')) ?? lastLine(stderr);
    if (name === undefined)
      throw new BenchError('toolchain', `${what} cannot be installed for Python ${version}: ${why}`, hint);
    throw new BenchError(
      'toolchain',
      `${[name, failed].filter(Boolean).join(' ')} of ${what} has no wheel for Python ${version} and could not be built: ${why}`,
      'choose an interpreter for which it has wheels, name a newer version with --with, or install what its build needs',
    );
  });
}

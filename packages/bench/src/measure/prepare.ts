import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../catalogue/stacks.ts';
import { findRuntime } from '../catalogue/runtimes.ts';
import { BenchError } from '../errors.ts';
import type { ResolvedRuntime, Stack, Target, Variant } from '../model.ts';
import { findUv, provideUv } from './uv.ts';

const run = promisify(execFile);

/** Environments, builds and a uv of our own: all that may be removed and comes back. */
export const CACHE = join(ROOT, '.cache');

/** A target that can be launched. */
export interface Prepared {
  target: Target;
  stack: Stack;
  variant: Variant;
  command: string[];
  runtime?: ResolvedRuntime;
  /** Of the sources and the lock it is made from. */
  digest: string;
}

/** A target that can't be launched here, and why. */
export interface Missing {
  target: Target;
  reason: string;
  hint: string;
}

/**
 * Makes the environment of each target, before anything is measured: interpreter, locked packages,
 * builds. One that can't be made becomes `missing` and stops no other.
 */
export async function prepareAll(
  targets: Target[],
  stacks: Stack[],
  on: (doing: string) => void = () => {},
): Promise<{ prepared: Prepared[]; missing: Missing[] }> {
  const prepared: Prepared[] = [];
  const missing: Missing[] = [];
  for (const target of targets) {
    on(`preparing ${target.id}`);
    try {
      prepared.push(await prepare(target, stacks));
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      missing.push({ target, reason: error.message, hint: error.hint ?? '' });
    }
  }
  return { prepared, missing };
}

async function prepare(target: Target, stacks: Stack[]): Promise<Prepared> {
  const { stack, variant } = findStack(target, stacks);
  if (target.runtime === undefined) return finish(target, stack, variant, '', undefined);
  const uv = stack.runtime === 'python' ? await provideUv(CACHE) : undefined;
  const found = await findRuntime(target.runtime, uv);
  if (uv === undefined || !existsSync(join(stack.root, 'requirements.txt'))) {
    return finish(target, stack, variant, found.path, found.runtime);
  }
  const environment = await makeEnvironment(stack, found.path, found.runtime.version, uv);
  const python = join(environment, 'bin', 'python');
  await buildOnce(environment, target.variant, [...stack.build, ...variant.build], stack, python);
  return finish(target, stack, variant, python, found.runtime);
}

function finish(
  target: Target,
  stack: Stack,
  variant: Variant,
  runtimePath: string,
  runtime: ResolvedRuntime | undefined,
): Prepared {
  const command = variant.command.map((word) => fill(word, runtimePath, stack));
  return {
    target,
    stack,
    variant,
    command,
    digest: digestOf(filesOf(stack), ''),
    ...(runtime === undefined ? {} : { runtime }),
  };
}

function fill(word: string, runtimePath: string, stack: Stack): string {
  return word.replaceAll('{runtime}', runtimePath).replaceAll('{root}', stack.root);
}

/** Marks an environment that has everything, and a variant that is built in it. */
const READY = 'bench-ready';
const builtMark = (variant: string) => `bench-built-${variant}`;

function environmentOf(stack: Stack, python: string, version: string): string {
  return join(CACHE, 'environments', `${stack.name}-${version}-${digestOf(filesOf(stack), python)}`);
}

/** Whether a target could be launched: `ready`, to be made `on first use`, or `missing`, and why. Makes and fetches nothing. */
export async function inspectTarget(
  target: Target,
  stacks: Stack[],
): Promise<{ state: 'ready' | 'on first use' | 'missing'; why: string }> {
  const { stack, variant } = findStack(target, stacks);
  if (target.runtime === undefined) return { state: 'ready', why: '' };
  const uv = stack.runtime === 'python' ? await findUv(CACHE) : undefined;
  try {
    const { runtime, path } = await findRuntime(target.runtime, uv, false);
    const name = `${runtime.kind} ${runtime.version}`;
    if (stack.runtime !== 'python') return { state: 'ready', why: name };
    const environment = environmentOf(stack, path, runtime.version);
    const built =
      [...stack.build, ...variant.build].length === 0 ||
      existsSync(join(environment, builtMark(target.variant)));
    if (existsSync(join(environment, READY)) && built) return { state: 'ready', why: name };
    return { state: 'on first use', why: `${name}${uv === undefined ? ', uv through pip' : ''}` };
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return { state: 'missing', why: `${error.message} (${error.hint})` };
  }
}

function findStack(target: Target, stacks: Stack[]): { stack: Stack; variant: Variant } {
  const stack = stacks.find(({ name }) => name === target.stack);
  const variant = stack?.variants[target.variant];
  if (stack === undefined || variant === undefined)
    throw new BenchError('usage', `the stack of ${target.id} is not here any more`);
  return { stack, variant };
}

/** One virtual environment per interpreter and stack, from the committed lock; kept until a source changes. */
async function makeEnvironment(stack: Stack, python: string, version: string, uv: string): Promise<string> {
  const contract = join(stack.root, '..', 'contract');
  const packages = [contract, stack.root].filter((folder) => existsSync(join(folder, 'pyproject.toml')));
  const lock = join(stack.root, 'requirements.txt');
  const environment = environmentOf(stack, python, version);
  const ready = join(environment, READY);
  if (existsSync(ready)) return environment;
  rmSync(environment, { recursive: true, force: true });
  mkdirSync(join(CACHE, 'environments'), { recursive: true });
  const inside = ['--python', join(environment, 'bin', 'python')];
  const steps = [
    ['venv', '--python', python, environment],
    ['pip', 'sync', '--require-hashes', '--compile-bytecode', ...inside, lock],
    ['pip', 'install', '--no-deps', '--compile-bytecode', ...inside, ...packages],
  ];
  for (const step of steps) {
    await run(uv, step, { cwd: stack.root, timeout: 600_000 }).catch((error: unknown) => {
      throw new BenchError(
        'toolchain',
        `${stack.name} on Python ${version}: uv ${step.slice(0, 2).join(' ')} failed: ${lastLine(error)}`,
        'pnpm clean environments, then try again',
      );
    });
  }
  writeFileSync(ready, '');
  return environment;
}

/** Runs the build commands of a variant once per environment. */
async function buildOnce(
  environment: string,
  variant: string,
  commands: string[][],
  stack: Stack,
  python: string,
): Promise<void> {
  const built = join(environment, builtMark(variant));
  if (existsSync(built)) return;
  for (const argv of commands) {
    const [command = '', ...args] = argv.map((word) => fill(word, python, stack));
    await run(command, args, { cwd: stack.root, timeout: 600_000 }).catch((error: unknown) => {
      throw new BenchError(
        'toolchain',
        `${stack.name}/${variant} could not be built: ${lastLine(error)}`,
        `in ${stack.manifest}, see "build"`,
      );
    });
  }
  writeFileSync(built, '');
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || message || String(error)).split('\n').at(-1) ?? '';
}

/** What a stack is made from: its lock, its sources, and those of the contract beside it. */
function filesOf(stack: Stack): string[] {
  const patterns = ['stack.json', 'package.json', 'pyproject.toml', 'requirements.txt', 'src/**/*.{ts,py}'];
  return [stack.root, join(stack.root, '..', 'contract')].flatMap((folder) =>
    globSync(patterns, { cwd: folder }).map((file) => join(folder, file)),
  );
}

function digestOf(files: string[], extra: string): string {
  const hash = createHash('sha256').update(extra);
  for (const file of files.toSorted()) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 10);
}

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../catalogue/stacks.ts';
import { claimsOfRuntime, environmentOfRuntime } from '../catalogue/runtimes.ts';
import { BenchError } from '../errors.ts';
import type { Attestation, ResolvedRuntime, Stack, Target, Variant } from '../model.ts';
import { findRuntime, lastLine, type FoundRuntime } from './runtimes.ts';
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
  env: Record<string, string>;
  /** What every worker has to say of itself. */
  claims: Attestation;
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
  if (target.runtime === undefined) return finish(target, stack, variant, undefined, []);
  const uv = stack.runtime === 'python' ? await provideUv(CACHE) : undefined;
  const found = await findRuntime(target.runtime, { cache: CACHE, uv, mayInstall: true });
  if (uv === undefined || !existsSync(join(stack.root, 'requirements.txt'))) {
    return finish(target, stack, variant, found, found.argv);
  }
  const environment = await makeEnvironment(target, stack, found, uv);
  const python = join(environment, 'bin', 'python');
  await buildOnce(environment, target.variant, [...stack.build, ...variant.build], stack, python);
  return finish(target, stack, variant, withBuilt(found, environment), [python]);
}

function finish(
  target: Target,
  stack: Stack,
  variant: Variant,
  found: FoundRuntime | undefined,
  argv: string[],
): Prepared {
  return {
    target,
    stack,
    variant,
    command: variant.command.flatMap((word) => fill(word, argv, stack)),
    env: { ...(target.runtime === undefined ? {} : environmentOfRuntime(target.runtime)), ...variant.env },
    claims: { ...(target.runtime === undefined ? {} : claimsOfRuntime(target.runtime)), ...variant.attest },
    digest: digestOf(filesOf(stack), ''),
    ...(found === undefined ? {} : { runtime: found.runtime }),
  };
}

/** A word of an argv with its placeholders filled in; a word that is `{runtime}` becomes all the words that start it. */
function fill(word: string, runtime: string[], stack: Stack): string[] {
  if (word === '{runtime}') return runtime;
  return [word.replaceAll('{runtime}', runtime[0] ?? '').replaceAll('{root}', stack.root)];
}

/** Marks an environment that has everything, and names the packages that came without a wheel; the other a variant that is built in it. */
const READY = 'bench-ready';
const builtMark = (variant: string) => `bench-built-${variant}`;

function environmentOf({ packages = [] }: Target, stack: Stack, { argv, runtime }: FoundRuntime): string {
  const digest = digestOf(filesOf(stack), [...argv, ...packages].join(' '));
  return join(CACHE, 'environments', `${stack.name}-${runtime.version}-${digest}`);
}

function withBuilt(found: FoundRuntime, environment: string): FoundRuntime {
  const built = readFileSync(join(environment, READY), 'utf8').trim();
  const build = {
    ...found.runtime.build,
    ...(built === '' ? {} : { builtHere: built.replaceAll('\n', ', ') }),
  };
  return { ...found, runtime: { ...found.runtime, build } };
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
    const found = await findRuntime(target.runtime, { cache: CACHE, uv, mayInstall: false });
    const { runtime } = found;
    const name = `${runtime.kind} ${runtime.version}`;
    if (stack.runtime !== 'python') return { state: 'ready', why: name };
    const environment = environmentOf(target, stack, found);
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

/** One virtual environment per interpreter, stack and `--with`, from the committed lock; kept until a source changes. */
async function makeEnvironment(
  target: Target,
  stack: Stack,
  found: FoundRuntime,
  uv: string,
): Promise<string> {
  const contract = join(stack.root, '..', 'contract');
  const own = [contract, stack.root].filter((folder) => existsSync(join(folder, 'pyproject.toml')));
  const environment = environmentOf(target, stack, found);
  const ready = join(environment, READY);
  if (existsSync(ready)) return environment;
  rmSync(environment, { recursive: true, force: true });
  mkdirSync(join(CACHE, 'environments'), { recursive: true });
  const inside = ['--python', join(environment, 'bin', 'python')];
  const steps = [
    ['venv', '--python', found.argv[0] ?? '', environment],
    [
      'pip',
      'sync',
      '--require-hashes',
      '--compile-bytecode',
      ...inside,
      join(stack.root, 'requirements.txt'),
    ],
    ['pip', 'install', '--no-deps', '--compile-bytecode', ...inside, ...own],
    // What --with names comes on top of the lock, with whatever it depends on.
    ...(target.packages === undefined
      ? []
      : [['pip', 'install', '--compile-bytecode', ...inside, ...target.packages]]),
  ];
  const built: string[] = [];
  for (const step of steps) {
    const { stderr } = await run(uv, step, { cwd: stack.root, timeout: 600_000 }).catch(
      (error: { stderr?: string }) => {
        throw new BenchError(
          'toolchain',
          `${target.id} on Python ${found.runtime.version}: uv ${step.slice(0, 2).join(' ')} failed: ${lastLine(error.stderr)}`,
          'pnpm clean environments, then try again',
        );
      },
    );
    built.push(...[...stderr.matchAll(/^\s*Built (\S+==\S+)/gm)].map(([, name = '']) => name));
  }
  writeFileSync(ready, built.join('\n'));
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
    const [command = '', ...args] = argv.flatMap((word) => fill(word, [python], stack));
    await run(command, args, { cwd: stack.root, timeout: 600_000 }).catch(
      (error: { stderr?: string; message: string }) => {
        throw new BenchError(
          'toolchain',
          `${stack.name}/${variant} could not be built: ${lastLine(error.stderr) || error.message}`,
          `in ${stack.manifest}, see "build"`,
        );
      },
    );
  }
  writeFileSync(built, '');
}

/** What a stack is made from: its lock, its sources, and those of the contract beside it. */
function filesOf(stack: Stack): string[] {
  const patterns = ['stack.json', 'package.json', 'pyproject.toml', 'requirements*.txt', 'src/**/*.{ts,py}'];
  return [stack.root, join(stack.root, '..', 'contract')].flatMap((folder) =>
    globSync(patterns, { cwd: folder }).map((file) => join(folder, file)),
  );
}

function digestOf(files: string[], extra: string): string {
  const hash = createHash('sha256').update(extra);
  for (const file of files.toSorted()) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 10);
}

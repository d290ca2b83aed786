import { existsSync, globSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { readManifest } from '../catalogue/manifest.ts';
import { isCopyOf, parsePackage, type NamedPackage } from '../catalogue/packages.ts';
import { claimsOfRuntime, environmentOfRuntime, refuseUnfit } from '../catalogue/runtimes.ts';
import { BenchError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import type { Stack, Variant } from 'bench-model/stack';
import type { Attestation, ResolvedRuntime, RuntimeSpec, Target } from 'bench-model/target';
import { isCompiled, provideBuild, runBuild } from './builds.ts';
import { digestOf } from './digest.ts';
import { awaitLock } from 'bench-machine/filelock';
import { filesOfDistribution, filesOfModule, type CodeClaim } from './imports.ts';
import { copyOf, installCopy, NODE_LOCKS, versionInCopy, workspaceOf } from './pnpm.ts';
import { locksOf, makeEnvironment, type EnvironmentSpec, type Made } from './python.ts';
import { findRuntime, type FoundRuntime, type Search } from './runtimes.ts';
import { prepareProject } from './projects/index.ts';
import { provideUv, versionInEnvironment } from './uv.ts';

/** The interval between progress lines of a long preparation. */
const STILL_SECONDS = 20;

/** A target that can be launched. */
export interface Prepared {
  target: Target;
  stack: Stack;
  variant: Variant;
  command: string[];
  env: Record<string, string>;
  /** The properties that every worker must attest. */
  claims: Attestation;
  runtime?: ResolvedRuntime;
  /** The digest of the sources, the lock and the checkouts of `--with`. */
  digest: string;
  /** The packages that `--with` and `--resolve` installed, e.g. `fastify 5.1.0`. */
  installed: string[];
  /** The code that it must run, if `--with` names a folder. */
  code?: CodeClaim;
  /** The executable of the interpreter that must serve; absent for a binary. */
  interpreter?: string;
  /** The command that runs before each trial, for a project of a user. */
  setup?: string[];
  /** Every package of its environment, for a project of a user. */
  packages?: string[];
}

/** A target whose server is already running. */
export interface Attached {
  target: Target;
  attached: true;
  /** A one-line description of its process. */
  version: string;
}

/** A target whose servers are available. */
export type Launchable = Prepared | Attached;

/** A target that cannot be launched here, and the reason. */
export interface Missing {
  target: Target;
  reason: string;
  hint: string;
}

/**
 * Prepares each target before anything is measured: interpreter, locked packages, builds. A target that cannot be
 * prepared becomes `missing`; the others are prepared all the same.
 */
export async function prepareAll(
  targets: Target[],
  stacks: Stack[],
  on: (doing: string) => void = () => {},
): Promise<{ prepared: Prepared[]; missing: Missing[] }> {
  refuseSameCopies(targets);
  const prepared: Prepared[] = [];
  const missing: Missing[] = [];
  for (const target of targets) {
    on(`preparing ${target.id}`);
    try {
      using _ = reportProgress(`preparing ${target.id}`, on);
      prepared.push(await prepare(target, stacks, on));
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      missing.push({ target, reason: error.message, hint: error.hint ?? '' });
    }
  }
  return { prepared, missing };
}

/** Targets that are missing for the same reason. */
export interface MissingTogether {
  targets: string[];
  reason: string;
  hint: string;
}

/** Groups missing targets by reason, so that each reason is reported once. */
export function groupMissing(missing: readonly Missing[]): MissingTogether[] {
  const groups = Map.groupBy(missing, ({ reason, hint }) => `${reason}\n${hint}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return { targets: group.map(({ target }) => target.id), reason: first.reason, hint: first.hint };
  });
}

/** Reports regularly that an operation is still in progress, until disposed. */
export function reportProgress(doing: string, on: (line: string) => void): Disposable {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += STILL_SECONDS;
    on(`still ${doing}: ${seconds} s so far`);
  }, STILL_SECONDS * 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Throws a usage error if two folders of `--with` hold the same files: the same code would be measured twice. */
function refuseSameCopies(targets: Target[]): void {
  const seen = new Map<string, string>();
  for (const text of new Set(targets.flatMap(({ packages = [] }) => packages))) {
    const folder = parsePackage(text).find((one) => one.folder !== undefined)?.folder;
    if (folder === undefined) continue;
    const digest = digestOfFolder(folder);
    const other = seen.get(digest);
    if (other !== undefined) {
      throw new BenchError(
        'usage',
        `--with ${other} and --with ${text} hold the same files: the same code would be measured twice`,
        'change one of them, or measure one with --aa for the noise floor',
      );
    }
    seen.set(digest, text);
  }
}

function digestOfFolder(folder: string): string {
  const files = filesIn(folder, ['**/*']).toSorted();
  return digestOf(files, files.map((file) => relative(folder, file)).join('\n'));
}

async function prepare(target: Target, stacks: Stack[], on: (doing: string) => void): Promise<Prepared> {
  const { stack, variant } = findStack(target, stacks);
  const wait = (waiting: string): void => on(`${target.id}: ${waiting}`);
  if (stack.project !== undefined) {
    const { root, ...ready } = await prepareProject(target, stack, variant, wait);
    const prepared = { target, stack: { ...stack, root }, variant, claims: variant.attest, ...ready };
    if (stack.copy === undefined) return prepared;
    const code: CodeClaim = {
      from: stack.copy,
      language: target.runtime?.kind ?? 'none',
      folder: root,
      installed: undefined,
      instead: stack.original,
      project: { program: ready.command[0] ?? '' },
    };
    return { ...prepared, code };
  }
  if (target.runtime === undefined) return prepareBinary(target, stack, variant, wait);
  return stack.runtime === 'python'
    ? preparePython(target, target.runtime, stack, variant, wait)
    : prepareNode(target, target.runtime, stack, variant, wait);
}

/** Returns a missing tool as a value; rethrows every other error. */
function asBenchError(error: unknown): BenchError {
  if (error instanceof BenchError) return error;
  throw error;
}

/**
 * Finds the runtime on this machine. Throws a toolchain error if it is missing, or if the stack does not support
 * it.
 */
export async function findFitting(stack: Stack, spec: RuntimeSpec, search: Search): Promise<FoundRuntime> {
  const found = await findRuntime(spec, search);
  refuseUnfit(stack, found.runtime);
  return found;
}

async function preparePython(
  target: Target,
  spec: RuntimeSpec,
  stack: Stack,
  variant: Variant,
  wait: (waiting: string) => void,
): Promise<Prepared> {
  const uv = await provideUv(HOME.cache).catch(asBenchError);
  const search = { cache: HOME.cache, uv: uv instanceof BenchError ? undefined : uv, mayInstall: true };
  const found = await findRuntime(spec, search).catch((error: unknown) => {
    throw uv instanceof BenchError ? uv : error;
  });
  refuseUnfit(stack, found.runtime);
  if (locksOf(stack, variant).length === 0 && !standsOn('requirements.txt', target, stack))
    return withCode(finish(target, stack, variant, found, found.argv), undefined);
  const environment = environmentOf(target, { stack, variant }, found);
  const python = join(environment, 'bin', 'python');
  if (!isMade(target, { stack, variant }, found)) {
    // Only missing environments need uv.
    if (uv instanceof BenchError) throw uv;
    using _ = await awaitLock(`${environment}.lock`, wait);
    const { version } = found.runtime;
    const packages = addedTo(stack, target).map(({ wanted }) => wanted);
    const [interpreter = ''] = found.argv;
    const made = { stack, variant, version, uv, packages, resolve: target.resolved === true };
    await providePython({ ...made, folder: environment, target: target.id, python: interpreter }, wait);
    await buildOnce(environment, target.variant, [...stack.build, ...variant.build], stack, python);
  }
  const made = readMade(environment);
  const installed = [...versionsIn(environment, target, versionInEnvironment), ...made.resolved];
  const ready = finish(target, stack, variant, withMade(found, made), [python]);
  return withCode({ ...ready, installed }, environment);
}

async function prepareNode(
  target: Target,
  spec: RuntimeSpec,
  stack: Stack,
  variant: Variant,
  wait: (waiting: string) => void,
): Promise<Prepared> {
  const found = await findFitting(stack, spec, { cache: HOME.cache, uv: undefined, mayInstall: true });
  if (stack.original !== undefined && !isMember(stack.original)) {
    requireModules(stack);
    return withCode(finish(target, stack, variant, found, found.argv), undefined);
  }
  if (target.packages === undefined || !standsOn('package.json', target, stack))
    return finish(target, stack, variant, found, found.argv);
  const environment = environmentOf(target, { stack, variant }, found);
  if (!existsSync(join(environment, READY))) {
    using _ = await awaitLock(`${environment}.lock`, wait);
    await makeCopy(environment, target, stack);
  }
  const installed = versionsIn(environment, target, versionInCopy);
  const ready = finish(target, copyOf(stack, environment), variant, found, found.argv);
  return withCode({ ...ready, installed }, environment);
}

/** Adds the code that must run, if `--with` names a folder. */
function withCode(prepared: Prepared, environment: string | undefined): Prepared {
  const { target, stack } = prepared;
  const [from] = target.packages ?? [];
  const named = packagesOf(target).find(({ folder }) => folder !== undefined);
  if (from === undefined || named?.folder === undefined) return prepared;
  const { kind: language, name } = named;
  const filesOfPackage = language === 'python' ? filesOfDistribution : filesOfModule;
  const isCopy = stack.original !== undefined;
  const code: CodeClaim = {
    from,
    language,
    // A stack that imports workspace packages runs from a copy of the copy, beside those packages.
    folder: isCopy ? stack.root : named.folder,
    installed: environment === undefined ? undefined : filesOfPackage(environment, name),
    instead: stack.original,
  };
  return { ...prepared, code };
}

/** Returns true if a Node stack imports packages of this workspace. */
function isMember(root: string): boolean {
  return workspaceOf(root).size > 1;
}

function requireModules({ root }: Stack): void {
  const manifest = join(root, 'package.json');
  if (!existsSync(manifest)) return;
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies?: object };
  if (Object.keys(dependencies).length === 0) return;
  const folders = root.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  if (folders.some((folder) => existsSync(join(folder, 'node_modules')))) return;
  throw new BenchError(
    'toolchain',
    `${shownPath(root)} has no node_modules`,
    `npm install --prefix ${shownPath(root)}, then try again`,
  );
}

function shownPath(folder: string): string {
  return relative(process.cwd(), folder) || '.';
}

/**
 * Returns true if the stack declares its dependencies in this file. Throws if it does not and `--with` would
 * replace some.
 */
function standsOn(file: string, target: Target, stack: Stack): boolean {
  if (existsSync(join(stack.root, file))) return true;
  const packages = addedTo(stack, target).map(({ name }) => name);
  if (packages.length === 0) return false;
  throw new BenchError(
    'toolchain',
    `${stack.name} has no ${file}, so ${packages.join(', ')} cannot be added`,
    `add one beside ${stack.manifest}, or omit --with`,
  );
}

/** Removes the copy of the stack itself: it is what runs, not one of its dependencies. */
function addedTo({ root }: Stack, target: Target): NamedPackage[] {
  return packagesOf(target).filter(({ folder }) => folder === undefined || folder !== resolve(root));
}

function packagesOf({ packages = [], runtime }: Target): NamedPackage[] {
  return packages.flatMap(parsePackage).filter(({ kind }) => kind === runtime?.kind);
}

function versionsIn(
  environment: string,
  target: Target,
  versionIn: (environment: string, name: string) => string | undefined,
): string[] {
  return packagesOf(target).flatMap(({ name }) => {
    const version = versionIn(environment, name);
    return version === undefined ? [] : [`${name} ${version}`];
  });
}

async function prepareBinary(
  target: Target,
  stack: Stack,
  variant: Variant,
  wait: (waiting: string) => void,
): Promise<Prepared> {
  const binary = finish(target, stack, variant, undefined, []);
  if (!isCompiled({ stack, variant })) return binary;
  const { digest } = await provideBuild({ stack, variant, name: target.variant }, HOME.cache, wait);
  return { ...binary, digest };
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
    digest: digestOf(filesOf(stack, variant, packagesOf(target)), ''),
    installed: [],
    ...(found === undefined ? {} : { runtime: found.runtime }),
    ...(argv[0] === undefined ? {} : { interpreter: realpathSync(argv[0]) }),
  };
}

/** Fills in the placeholders in one word of an argv. `{runtime}` alone becomes all the words that start the runtime. */
function fill(word: string, runtime: string[], stack: Stack): string[] {
  if (word === '{runtime}') return runtime;
  return [word.replaceAll('{runtime}', runtime[0] ?? '').replaceAll('{root}', stack.root)];
}

/**
 * Marker files of a complete environment. The first records how it differs from its locks, the second marks a
 * variant built in it.
 */
const READY = 'bench-ready';
const builtMark = (variant: string) => `bench-built-${variant}`;

function environmentOf(
  target: Target,
  { stack, variant }: FoundStack,
  { argv, runtime }: FoundRuntime,
): string {
  // Variants with the same locks share an environment.
  const locks = stack.runtime === 'python' ? locksOf(stack, variant).map((file) => basename(file)) : [];
  const words = [
    ...argv,
    ...locks,
    ...(target.packages ?? []),
    target.resolved === true ? 'resolved' : '',
  ].join(' ');
  const digest = digestOf(filesOf(stack, variant, packagesOf(target)), words);
  return join(HOME.cache, 'environments', `${stack.name}-${runtime.version}-${digest}`);
}

function readMade(environment: string): Made {
  return JSON.parse(readFileSync(join(environment, READY), 'utf8')) as Made;
}

function withMade(found: FoundRuntime, { built, resolved }: Made): FoundRuntime {
  const build = {
    ...found.runtime.build,
    ...(built.length === 0 ? {} : { builtHere: built.join(', ') }),
    ...(resolved.length === 0 ? {} : { resolved: resolved.join(', ') }),
  };
  return { ...found, runtime: { ...found.runtime, build } };
}

/** Returns true if the Python environment of a target exists, with everything that must be built in it. */
export function isMade(target: Target, { stack, variant }: FoundStack, found: FoundRuntime): boolean {
  if (stack.project !== undefined) return true;
  const environment = environmentOf(target, { stack, variant }, found);
  const mark = [...stack.build, ...variant.build].length === 0 ? READY : builtMark(target.variant);
  return existsSync(join(environment, READY)) && existsSync(join(environment, mark));
}

/** A target's stack and variant. */
export interface FoundStack {
  stack: Stack;
  variant: Variant;
}

/** Returns the stack of a target. Throws a usage error if it no longer exists. */
export function findStack(target: Target, stacks: Stack[]): FoundStack {
  const stack = stacks.find(({ name, copy }) => name === target.stack && copy === target.copy?.name);
  const variant = stack?.variants[target.variant];
  if (stack === undefined || variant === undefined)
    throw new BenchError('usage', `the stack of ${target.id} no longer exists`);
  return takeCopy(target, { stack, variant });
}

/**
 * Returns the stack in the folder of `--with` if it is a copy of the target's stack. Its own manifest applies if it
 * has one.
 */
function takeCopy(target: Target, { stack, variant }: FoundStack): FoundStack {
  const copy = packagesOf(target).find((one) => isCopyOf(one, stack));
  if (copy?.folder === undefined) return { stack, variant };
  const root = copy.folder;
  const original = stack.root;
  if (!existsSync(join(root, 'stack.json'))) return { stack: { ...stack, root, original }, variant };
  const own = readManifest(join(root, 'stack.json'));
  const found = own.variants[target.variant];
  if (found !== undefined) return { stack: { ...own, name: stack.name, original }, variant: found };
  throw new BenchError(
    'usage',
    `${own.manifest} has no variant "${target.variant}"`,
    `add it, as in ${stack.manifest}`,
  );
}

/**
 * A copy of a Node stack for each interpreter and `--with`, whose packages replace the locked ones; kept until a
 * source changes.
 */
async function makeCopy(environment: string, target: Target, stack: Stack): Promise<void> {
  const ready = join(environment, READY);
  if (existsSync(ready)) return;
  rmSync(environment, { recursive: true, force: true });
  try {
    await installCopy(stack, environment, addedTo(stack, target));
  } catch (error) {
    rmSync(environment, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(ready, '');
}

/** A virtual environment for each interpreter, set of locks and `--with`; kept until a source changes. */
async function providePython(spec: EnvironmentSpec, log: (doing: string) => void): Promise<void> {
  const ready = join(spec.folder, READY);
  if (existsSync(ready)) return;
  writeFileSync(ready, JSON.stringify(await makeEnvironment(spec, log)));
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
    await runBuild(
      argv.flatMap((word) => fill(word, [python], stack)),
      stack,
      variant,
    );
  }
  writeFileSync(built, '');
}

/**
 * Returns the inputs of a variant: its locks, its sources, those of the packages that it imports, and the checkouts
 * of `--with`.
 */
function filesOf(stack: Stack, variant: Variant, packages: NamedPackage[]): string[] {
  const patterns = ['stack.json', 'package.json', 'pyproject.toml', 'src/**/*.{ts,py}'];
  const root = stack.original ?? stack.root;
  const folders = new Set([join(root, '..', 'contract'), ...workspaceOf(root), stack.root]);
  return [
    ...[...folders].flatMap((folder) => filesIn(folder, patterns)),
    ...(stack.runtime === 'python' ? locksOf(stack, variant) : []),
    ...(stack.runtime === 'node' ? NODE_LOCKS : []),
    ...packages.flatMap(({ folder }) => (folder === undefined ? [] : filesIn(folder, ['**/*']))),
  ];
}

/** Outputs of tools, which are not sources. */
const MADE = new Set(['.git', '.venv', '__pycache__', 'node_modules']);

function filesIn(folder: string, patterns: string[]): string[] {
  return globSync(patterns, { cwd: folder, withFileTypes: true, exclude: ({ name }) => MADE.has(name) })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

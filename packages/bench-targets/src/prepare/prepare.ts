import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { readNodeManifest } from '../catalogue/apps/manifests.ts';
import { findStack, type FoundTarget } from '../catalogue/found.ts';
import { showPath } from '../catalogue/json-file.ts';
import { packagesOf, parsePackage, type NamedPackage } from '../catalogue/packages.ts';
import { claimsOfRuntime, environmentOfRuntime } from '../catalogue/runtimes.ts';
import { BenchError } from 'bench-model/errors';
import { lastPrinted } from 'bench-machine/subprocess';
import { HOME, parentsOf } from 'bench-machine/home';
import type { Stack, Variant } from 'bench-model/stack';
import type { Attestation, RuntimeSpec, Target } from 'bench-model/target';
import { runBuild } from './builds.ts';
import { digestOf } from './digest.ts';
import { awaitLock } from 'bench-machine/filelock';
import { folderOf, isComplete, provideFolder } from './environments.ts';
import { filesOfDistribution, filesOfModule, type CodeClaim } from './imports.ts';
import { copyOf, findModule, installCopy, NODE_LOCKS, workspaceOf } from './pnpm.ts';
import { locksOf, makeEnvironment, pythonIn } from './python.ts';
import { findFitting, type FoundRuntime } from './runtimes.ts';
import { prepareProject, type ReadyProject } from './projects/index.ts';
import { digestOfFiles, filesOfProject, matchingFiles } from './projects/tree.ts';
import { findDistribution, provideUv } from './uv.ts';

/** Takes a line for the user. A terminal also shows lines that the next one replaces. */
export interface Tell {
  (line: string): void;
  showLive?: (text: string) => void;
}

/** The interval between progress lines of a long preparation where none is replaced. */
const STILL_SECONDS = 20;

/** A target that can be launched. */
export interface Prepared extends Omit<ReadyProject, 'root'>, FoundTarget {
  /** The properties that every worker must attest. */
  claims: Attestation;
  /** The code that it must run, if it runs in a copy. */
  code?: CodeClaim;
}

/** A target whose server is already running. */
interface Attached {
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
  on: Tell = () => {},
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
interface MissingTogether {
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

/** Reports regularly that an operation is still in progress, and the last line of its tool, until disposed. */
export function reportProgress(doing: string, tell: Tell): Disposable {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds++;
    const text = [`still ${doing}: ${seconds} s so far`, lastPrinted() ?? []].flat().join(': ');
    if (tell.showLive !== undefined) tell.showLive(text);
    else if (seconds % STILL_SECONDS === 0) tell(text);
  }, 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Throws a usage error if two folders of `--with` hold the same files: the same code would be measured twice. */
function refuseSameCopies(targets: Target[]): void {
  const seen = new Map<string, string>();
  for (const text of new Set(targets.flatMap(({ packages = [] }) => packages))) {
    const folder = parsePackage(text).find((one) => one.folder !== undefined)?.folder;
    if (folder === undefined) continue;
    const digest = digestOfFiles(folder, filesOfProject(folder));
    const other = seen.get(digest);
    if (other !== undefined) {
      throw new BenchError(
        'usage',
        `--with ${other} and --with ${text} hold the same files: the same code would be measured twice`,
        'change one of them, or measure one with --noise for the noise floor',
      );
    }
    seen.set(digest, text);
  }
}

async function prepare(target: Target, stacks: Stack[], on: (doing: string) => void): Promise<Prepared> {
  const found = findStack(target, stacks);
  if (found.stack.project !== undefined || target.runtime === undefined) return prepareOwn(found, on);
  return found.stack.runtime === 'python'
    ? preparePython(found, target.runtime, on)
    : prepareNode(found, target.runtime, on);
}

/** Prepares the project of a user, or a program without a runtime. */
async function prepareOwn(found: FoundTarget, wait: (waiting: string) => void): Promise<Prepared> {
  const { target, stack, variant } = found;
  const { root, ...ready } = await prepareProject(found, wait);
  const prepared = { target, stack: { ...stack, root }, variant, claims: variant.attest, ...ready };
  if (stack.copy === undefined) return prepared;
  const code: CodeClaim = {
    from: stack.copy,
    language: target.runtime?.kind ?? 'none',
    folder: root,
    installed: undefined,
    instead: stack.original,
    project: { program: programOfProject(ready.command, root) },
  };
  return { ...prepared, code };
}

/** Returns the program of a command if it is the project's, and not one of the machine that runs its code, such as `java`. */
function programOfProject([program = '']: readonly string[], root: string): string {
  return [root, HOME.cache].some((folder) => program.startsWith(folder + sep)) ? program : '';
}

async function preparePython(
  known: FoundTarget,
  spec: RuntimeSpec,
  wait: (waiting: string) => void,
): Promise<Prepared> {
  const { target, stack, variant } = known;
  const uv = await provideUv(HOME.cache);
  const found = await findFitting(stack, spec, { cache: HOME.cache, uv, mayInstall: true });
  if (locksOf(stack, variant).length === 0 && !standsOn('requirements.txt', known))
    return withCode(finish(known, found, found.argv), undefined);
  const folder = environmentOf(known, found);
  const { version, build } = found.runtime;
  const [interpreter = ''] = found.argv;
  const packages = addedTo(known).map(({ wanted }) => wanted);
  const environment = { folder, root: stack.root, python: interpreter, version, uv, packages };
  const { built } = await provideFolder(
    folder,
    () => makeEnvironment({ ...environment, stack, variant }),
    wait,
  );
  const python = pythonIn(folder);
  await buildOnce(known, folder, python, wait);
  const builtHere = built.length === 0 ? {} : { builtHere: built.join(', ') };
  const runtime = { ...found.runtime, build: { ...build, ...builtHere } };
  const ready = finish(known, { ...found, runtime }, [python]);
  return withCode({ ...ready, installed: versionsIn(folder, target) }, folder);
}

async function prepareNode(
  known: FoundTarget,
  spec: RuntimeSpec,
  wait: (waiting: string) => void,
): Promise<Prepared> {
  const { target, stack } = known;
  const found = await findFitting(stack, spec, { cache: HOME.cache, uv: undefined, mayInstall: true });
  if (stack.original !== undefined && !isMember(stack.original)) {
    requireModules(stack);
    return withCode(finish(known, found, found.argv), undefined);
  }
  if (target.packages === undefined || !standsOn('package.json', known))
    return finish(known, found, found.argv);
  const folder = environmentOf(known, found);
  await provideFolder(folder, () => installCopy(stack, folder, addedTo(known)), wait);
  const installed = versionsIn(folder, target);
  const ready = finish({ ...known, stack: copyOf(stack, folder) }, found, found.argv);
  return withCode({ ...ready, installed }, folder);
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
  const { dependencies = {} } = readNodeManifest(root);
  if (Object.keys(dependencies).length === 0) return;
  if (parentsOf(root).some((folder) => existsSync(join(folder, 'node_modules')))) return;
  throw new BenchError(
    'toolchain',
    `${showPath(root)} has no node_modules`,
    `npm install --prefix ${showPath(root)}, then try again`,
  );
}

/**
 * Returns true if the stack declares its dependencies in this file. Throws if it does not and `--with` would
 * replace some.
 */
function standsOn(file: string, known: FoundTarget): boolean {
  const { stack } = known;
  if (existsSync(join(stack.root, file))) return true;
  const packages = addedTo(known).map(({ name }) => name);
  if (packages.length === 0) return false;
  throw new BenchError(
    'toolchain',
    `${stack.name} has no ${file}, so ${packages.join(', ')} cannot be added`,
    `add one beside ${stack.manifest}, or omit --with`,
  );
}

/** Removes the copy of the stack itself: it is what runs, not one of its dependencies. */
function addedTo({ stack, target }: FoundTarget): NamedPackage[] {
  return packagesOf(target).filter(({ folder }) => folder === undefined || folder !== resolve(stack.root));
}

/** Returns the packages of `--with` as they are installed. */
function versionsIn(folder: string, target: Target): string[] {
  return packagesOf(target).flatMap(({ kind, name }) => {
    const version =
      kind === 'python'
        ? findDistribution(folder, name)?.version
        : readNodeManifest(findModule(folder, name) ?? folder).version;
    return version === undefined ? [] : [`${name} ${version}`];
  });
}

function finish({ target, stack, variant }: FoundTarget, found: FoundRuntime, argv: string[]): Prepared {
  return {
    target,
    stack,
    variant,
    command: variant.command.flatMap((word) => fill(word, argv, stack)),
    env: { ...environmentOfRuntime(found.runtime), ...variant.env },
    claims: { ...claimsOfRuntime(found.runtime), ...variant.attest },
    digest: digestOf(filesOf(stack, variant, packagesOf(target)), ''),
    installed: [],
    runtime: found.runtime,
    ...(argv[0] === undefined ? {} : { interpreter: realpathSync(argv[0]) }),
  };
}

/** Fills in the placeholders in one word of an argv. `{runtime}` alone becomes all the words that start the runtime. */
function fill(word: string, runtime: string[], stack: Stack): string[] {
  if (word === '{runtime}') return runtime;
  return [word.replaceAll('{runtime}', runtime[0] ?? '').replaceAll('{root}', stack.root)];
}

function environmentOf({ target, stack, variant }: FoundTarget, found: FoundRuntime): string {
  // Variants with the same locks share an environment.
  const locks = stack.runtime === 'python' ? locksOf(stack, variant).map((file) => basename(file)) : [];
  const words = [...found.argv, ...locks, ...(target.packages ?? [])].join(' ');
  return folderOf(stack, found, digestOf(filesOf(stack, variant, packagesOf(target)), words));
}

/** Returns true if the Python environment of a target exists, with everything that must be built in it. */
export function isMade(known: FoundTarget, found: FoundRuntime): boolean {
  const { target, stack } = known;
  if (stack.project !== undefined) return true;
  const folder = environmentOf(known, found);
  return isComplete(folder) && (buildsOf(known).length === 0 || existsSync(builtMark(folder, target)));
}

function buildsOf({ stack, variant }: FoundTarget): string[][] {
  return [...stack.build, ...variant.build];
}

/** The file that marks a variant as built in an environment. */
function builtMark(folder: string, { variant }: Target): string {
  return join(folder, `bench-built-${variant}`);
}

/** Runs the build commands of a variant once per environment. */
async function buildOnce(
  known: FoundTarget,
  folder: string,
  python: string,
  wait: (waiting: string) => void,
): Promise<void> {
  const { target, stack } = known;
  if (buildsOf(known).length === 0 || existsSync(builtMark(folder, target))) return;
  using _ = await awaitLock(`${folder}.lock`, wait);
  const built = builtMark(folder, target);
  if (existsSync(built)) return;
  for (const argv of buildsOf(known)) {
    const words = argv.flatMap((word) => fill(word, [python], stack));
    await runBuild(words, stack, target.variant);
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
    ...[...folders].flatMap((folder) => matchingFiles(folder, patterns)),
    ...(stack.runtime === 'python' ? locksOf(stack, variant) : []),
    ...(stack.runtime === 'node' ? NODE_LOCKS : []),
    ...packages.flatMap(({ folder }) => (folder === undefined ? [] : filesOfProject(folder))),
  ];
}

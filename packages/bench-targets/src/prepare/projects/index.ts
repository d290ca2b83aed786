/** Makes a server program runnable: its build or its interpreter, its environment, its command. */
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isFile, readTextFile } from 'bench-machine/files';
import { readNodeManifest } from '../../catalogue/apps/manifests.ts';
import { languageOfProgram } from '../../catalogue/apps/project.ts';
import type { FoundTarget } from '../../catalogue/found.ts';
import { packagesOf } from '../../catalogue/packages.ts';
import { environmentOfRuntime } from '../../catalogue/runtimes.ts';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Lock, Stack } from 'bench-model/stack';
import { HOME, parentsOf } from 'bench-machine/home';
import { findProgram, foldersOnPath, isProgram } from 'bench-machine/path';
import { awaitLock } from 'bench-machine/filelock';
import type { ResolvedRuntime, RuntimeSpec } from 'bench-model/target';
import { findTool, runBuild, variablesOfBuilds } from '../builds.ts';
import { hide, literalsInEnvironment, valuesOf } from 'bench-machine/redact';
import { digestOf } from '../digest.ts';
import { dayOf, folderOf, provideFolder } from '../environments.ts';
import { readInterpreter } from '../interpreters.ts';
import { variablesOfMovedPort } from '../moved-port.ts';
import { pythonIn } from '../python.ts';
import { findFitting, type FoundRuntime } from '../runtimes.ts';
import { provideUv } from '../uv.ts';
import { provideManagers } from './managers.ts';
import { makeProjectCopy, rootInCopy, versionInProject } from './node.ts';
import {
  dependsOnPlace,
  filesOfLock,
  isPackage,
  makeProjectEnvironment,
  type MadeEnvironment,
} from './python.ts';
import { countOpen, describeLock } from './packages.ts';
import { warnStale } from './stale.ts';
import { filesOfLocalPackages, sourcesOf } from './sources.ts';
import { copyProject, digestOfFiles, filesOfProject, linkAround, settingsOfProject } from './tree.ts';

/** A program, ready to launch. */
export interface ReadyProject {
  /** The folder to start in. */
  root: string;
  command: string[];
  env: Record<string, string>;
  runtime?: ResolvedRuntime;
  /** The executable of the interpreter that must serve; absent for a binary. */
  interpreter?: string;
  /** The digest of the sources, the lock, the packages and the checkouts of `--with`. */
  digest: string;
  /** The packages that `--with` installed, with all that they changed, e.g. `fastify 5.1.0`. */
  installed: string[];
  /** The command that runs before each trial, in the same environment, for a project of a user. */
  setup?: string[];
  /** What its environment or its program was made by, in words; absent if nothing was made. */
  origin?: string;
  /** Every package of its environment with its version, for a project of a user whose environment was made here. */
  packages?: string[];
}

/** Prepares a target of a user's project, or a compiled one of Bench. Throws a toolchain error if its environment cannot be made. */
export async function prepareProject(known: FoundTarget, log: (line: string) => void): Promise<ReadyProject> {
  const { target, stack, variant } = known;
  hideSettings(stack.root);
  const isBuilt = [...stack.build, ...variant.build].length > 0;
  // The files of a commit have the time of its checkout.
  const stale = isBuilt || stack.copy !== undefined ? undefined : warnStale(stack.root, variant.command);
  if (stale !== undefined) log(`warning: ${stale}`);
  const ready = await (target.runtime === undefined
    ? prepareProgram(known, log)
    : target.runtime.kind === 'python'
      ? preparePython(known, target.runtime, log)
      : prepareNode(known, target.runtime, log));
  if (stack.movedPort === undefined) return ready;
  return { ...ready, env: { ...ready.env, ...(await variablesOfMovedPort(stack.movedPort, ready.env)) } };
}

/** Hides the secrets that a server finds in the `.env` files of its project, and may print. */
function hideSettings(root: string): void {
  for (const file of settingsOfProject(root)) {
    const settings = Object.entries(parseEnv(readTextFile(file) ?? ''));
    // A password such as the name of the project, as in an example, is a word of its commands.
    const isWord = (value: string): boolean => ['', '.py'].some((end) => existsSync(join(root, value + end)));
    const set = settings.flatMap(([name, value]) =>
      value === undefined || isWord(value) ? [] : [[name, value] as const],
    );
    hide(valuesOf(literalsInEnvironment(Object.fromEntries(set))));
  }
}

/** A value for the secrets that an example leaves empty: long enough for the usual checks. */
const ANY_SECRET = '0123456789abcdef'.repeat(4);

/**
 * Returns the variables of a project's file that the user does not set. Secrets that it leaves empty get a value, because servers
 * refuse to start without. Throws a usage error if there is no such file.
 */
function readEnvFile({ root, envFile, manifest }: Stack): Record<string, string> {
  if (envFile === undefined) return {};
  const file = join(root, envFile);
  if (!isFile(file))
    throw new BenchError('usage', `${manifest}: ${envFile} does not exist`, 'name a file of the project');
  const all = parseEnv(readTextFile(file) ?? '');
  const fill = (text: string): string =>
    text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => process.env[name] ?? all[name] ?? whole);
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, text = '']) => {
      const written = fill(text);
      const value = written === '' && /SECRET|KEY|TOKEN|SALT/.test(name) ? ANY_SECRET : written;
      return value === '' || process.env[name] !== undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Returns the commands of a variant with the paths of their programs. */
function locateAll({ stack, variant }: FoundTarget, place: Place): Pick<ReadyProject, 'command' | 'setup'> {
  const { setup } = stack.surroundings ?? {};
  return {
    command: locate(variant.command, place),
    ...(setup === undefined ? {} : { setup: locate(setup.command, place, 'the setup') }),
  };
}

/** Returns what makes the program of a target. */
function programOf({ stack, variant }: FoundTarget): ProgramBuild {
  const { root } = stack;
  // A binary in the project is an output of its build.
  const [binary = ''] = variant.command.map((word) => resolve(root, word.replaceAll('{root}', root)));
  const sources = sourcesOf(stack).filter((file) => file !== binary);
  const commands = [...stack.build, ...variant.build];
  const isBuilt = commands.length > 0;
  const digest = digestOfFiles(root, isBuilt || !isProgram(binary) ? sources : [...sources, binary]);
  const isCopied = mustCopy(stack) || (isBuilt && !namesBuild(commands));
  return { commands, build: folderOfBuild(stack, commands), isCopied, digest };
}

async function prepareProgram(known: FoundTarget, log: (line: string) => void): Promise<ReadyProject> {
  const { stack, variant } = known;
  const { root } = stack;
  const program = programOf(known);
  const { build, isCopied, digest } = program;
  const isBuilt = program.commands.length > 0;
  const tools = isBuilt || isCopied ? await provideProgram(known, program, log) : [];
  const place = isCopied ? copyIn(build, root) : root;
  const located = locateAll(known, { root: place, bins: [], build });
  const interpreter = await readInterpreter(realpathSync(located.command[0] ?? ''));
  const origin = [
    ...(interpreter === undefined ? [] : [`${interpreter.implementation} ${interpreter.version}`]),
    ...(isBuilt ? [`built by ${tools.join(', ')}`] : []),
  ].join(', ');
  return {
    root: place,
    ...located,
    env: { ...readEnvFile(stack), ...variant.env },
    digest,
    installed: [],
    ...(origin !== '' && { origin }),
  };
}

/** Returns true if commands write into `{build}`. Others write into the project, so that they run in a copy of it. */
function namesBuild(commands: readonly string[][]): boolean {
  return commands.flat().some((word) => word.includes('{build}'));
}

/** Returns the folder for what these commands make of a project. A copy of a project is another one, even with the same name. */
function folderOfBuild({ name, root }: Stack, commands: readonly string[][]): string {
  return join(HOME.cache, 'builds', `${name}-${digestOf([], JSON.stringify([resolve(root), commands]))}`);
}

/** Returns true if a project starts in a copy, because its setup may change its files: a database, for example. */
function mustCopy({ surroundings, copy }: Stack): boolean {
  return surroundings?.setup !== undefined && copy === undefined;
}

/** Returns the folder in which a project without a build starts: itself, or a copy. */
async function provideRoot(known: FoundTarget, digest: string, log: (line: string) => void): Promise<string> {
  const { stack } = known;
  if (!mustCopy(stack)) return stack.root;
  const build = folderOfBuild(stack, []);
  await provideProgram(known, { commands: [], build, isCopied: true, digest }, log);
  return copyIn(build, stack.root);
}

/** Returns the repository of a project, of which it may use other folders; itself if it is in none. */
function wholeOf(root: string): string {
  return parentsOf(root).find((folder) => existsSync(join(folder, '.git'))) ?? root;
}

/**
 * Returns a project in its copy, in a folder for it alone: some servers write beside their project, and tools name their outputs
 * by its folder.
 */
function copyIn(build: string, root: string): string {
  const whole = wholeOf(root);
  return join(build, 'copy', basename(whole), relative(whole, root));
}

/** A program to build. */
interface ProgramBuild {
  commands: string[][];
  /** The folder that `{build}` means. */
  build: string;
  /** True if it is built in a copy of the project. */
  isCopied: boolean;
  /** The digest of its sources. */
  digest: string;
}

/** The state of a program. */
interface ProgramState {
  /** The folder that it is built in, and the commands there. */
  root: string;
  commands: string[][];
  /** The tools that build it, e.g. `go 1.26.8`. */
  tools: string[];
  /** What it is made from, and the file that holds that once it is made. */
  made: string;
  ready: string;
  /** The files that its build writes. */
  outputs: string[];
  isMade: boolean;
}

/** Inspects the program of a target. Throws a toolchain error if a tool that builds it is missing. */
export async function inspectProgram(known: FoundTarget): Promise<Pick<ProgramState, 'tools' | 'isMade'>> {
  const isBuilt = [...known.stack.build, ...known.variant.build].length > 0;
  return isBuilt ? inspect(known, programOf(known)) : { tools: [], isMade: true };
}

async function inspect(
  { stack, variant }: FoundTarget,
  { commands, build, isCopied, digest }: ProgramBuild,
): Promise<ProgramState> {
  const root = isCopied ? copyIn(build, stack.root) : stack.root;
  const fill = (word: string): string => word.replaceAll('{root}', root).replaceAll('{build}', build);
  const words = commands.map((argv) => argv.map(fill));
  const tools = await Promise.all(
    [...new Set(words.map(([tool = '']) => tool))].map((tool) =>
      findTool(tool, stack.root, `to build ${stack.name}`),
    ),
  );
  const made = digestOf([], JSON.stringify([digest, variablesOfBuilds(), tools.map(({ text }) => text)]));
  const ready = join(build, 'bench-ready');
  const outputs = variant.command.filter((word) => word.startsWith('{build}/')).map(fill);
  return {
    root,
    commands: words,
    tools: tools.map(({ name }) => basename(name)),
    made,
    ready,
    outputs,
    isMade: readTextFile(ready) === made && outputs.every(isFile),
  };
}

/**
 * Builds a program in the folder of its project, into a folder of the cache, unless it is built from the same sources
 * already. Returns the tools that build it. Throws a toolchain error if the build fails, or does not write the program.
 */
async function provideProgram(
  known: FoundTarget,
  program: ProgramBuild,
  log: (line: string) => void,
): Promise<string[]> {
  const { target, stack } = known;
  const { build } = program;
  using _ = await awaitLock(`${build}.lock`, log);
  const { root, commands, tools, made, ready, outputs, isMade } = await inspect(known, program);
  if (isMade) return tools;
  mkdirSync(build, { recursive: true });
  // A build that no longer writes the program must not leave the old one.
  for (const file of [ready, ...outputs.filter(isFile)]) rmSync(file, { force: true });
  if (program.isCopied) {
    rmSync(join(build, 'copy'), { recursive: true, force: true });
    const whole = wholeOf(stack.root);
    linkAround(stack.root, whole, copyIn(build, whole));
    copyProject(stack.root, root);
  }
  for (const argv of commands) await runBuild(argv, { ...stack, root }, target.variant);
  const missing = outputs.find((output) => !existsSync(output));
  if (missing !== undefined) {
    throw new BenchError(
      'toolchain',
      `the build of ${stack.name}/${target.variant} does not write ${missing.replace(build, '{build}')}`,
      `correct "build" or "command" in ${stack.manifest}`,
    );
  }
  writeFileSync(ready, made);
  return tools;
}

async function preparePython(
  known: FoundTarget,
  spec: RuntimeSpec,
  log: (line: string) => void,
): Promise<ReadyProject> {
  const { target, stack, variant } = known;
  const lock = stack.project?.lock;
  const packages = [...(stack.project?.packages ?? []), ...packagesOf(target).map(({ wanted }) => wanted)];
  const listed = lock && filesOfLock(stack.root, lock);
  const digest = digestOfFiles(stack.root, sourcesOf(stack, listed), packages.join(' '));
  const root = await provideRoot(known, digest, log);
  const uv = await provideUv(HOME.cache);
  const found = await findFitting(stack, spec, { cache: HOME.cache, uv, mayInstall: true });
  const [python = ''] = found.argv;
  if (lock === undefined && packages.length > 0) {
    throw new BenchError(
      'toolchain',
      `the project lists no dependencies, so ${packages.join(', ')} cannot be added to them`,
      'add a requirements.txt or a pyproject.toml, or omit --with',
    );
  }
  const made = lock && (await provideEnvironment(known, lock, { ...found, uv, packages }, log));
  const place =
    made === undefined
      ? { root, bins: [dirname(python)], python }
      : { root, bins: [join(made.folder, 'bin')], python: pythonIn(made.folder) };
  // The server may compile its modules, but not into the project.
  const bytecode: Record<string, string> =
    made === undefined
      ? { PYTHONDONTWRITEBYTECODE: '1' }
      : { VIRTUAL_ENV: made.folder, PYTHONPYCACHEPREFIX: join(made.folder, 'bytecode') };
  const build = { ...found.runtime.build, ...(lock && { environment: basename(lock.file) }) };
  return {
    root,
    ...locateAll(known, place),
    env: {
      ...environmentOfRuntime(spec),
      ...readEnvFile(stack),
      ...variant.env,
      ...pathOf(place.bins),
      ...bytecode,
    },
    runtime: { ...found.runtime, build },
    interpreter: realpathSync(place.python),
    digest,
    installed: made?.changed ?? [],
    ...(made !== undefined && { origin: made.origin }),
    ...present({ packages: made?.packages }),
  };
}

/** Makes the environment of a Python project. Copies of a project with the same lock share one. */
async function provideEnvironment(
  { target, stack }: FoundTarget,
  lock: Lock,
  { uv, packages, ...found }: FoundRuntime & { uv: string; packages: string[] },
  log: (line: string) => void,
): Promise<MadeEnvironment & { folder: string; origin: string }> {
  const { root } = stack;
  const { version } = found.runtime;
  const [python = ''] = found.argv;
  const listed = filesOfLock(root, lock);
  const own = isPackage(root) ? filesOfProject(root) : [];
  const files = [...listed, ...own, ...filesOfLocalPackages(root, listed)];
  const words = [...(dependsOnPlace(root, listed) ? [root] : []), python, lock.kind, ...packages];
  const folder = folderOf(stack, found, digestOfFiles(root, [...new Set(files)], words.join(' ')));
  const environment = { target: target.id, root, lock, folder, python, version, uv, packages };
  const made = await provideFolder(folder, () => makeProjectEnvironment(environment, log), log);
  const { foreignLock } = stack.project ?? {};
  const open = lock.kind === 'requirements' ? countOpen(made, listed) : undefined;
  return { ...made, folder, origin: describeLock({ root, lock, foreignLock, day: dayOf(folder), open }) };
}

async function prepareNode(
  known: FoundTarget,
  spec: RuntimeSpec,
  log: (line: string) => void,
): Promise<ReadyProject> {
  const { target, stack, variant } = known;
  const search = { cache: HOME.cache, uv: undefined, mayInstall: true, isAnyNode: true };
  const found = await findFitting(stack, spec, search);
  const lock = stack.project?.lock;
  const named = packagesOf(target);
  const packages = [
    ...(stack.project?.packages ?? []),
    ...named.map(({ name, wanted }) => `${name}@${wanted}`),
  ];
  const digest = digestOfFiles(stack.root, sourcesOf(stack), packages.join(' '));
  const { root, origin } = await provideModules(known, found, { packages, digest, log });
  const place = { root, bins: [...binsOf(root), dirname(found.argv[0] ?? '')], node: found.argv };
  return {
    root,
    ...locateAll(known, place),
    env: { ...environmentOfRuntime(spec), ...readEnvFile(stack), ...variant.env, ...pathOf(place.bins) },
    runtime: {
      ...found.runtime,
      build: {
        ...found.runtime.build,
        ...(root === stack.root || lock === undefined ? {} : { environment: basename(lock.file) }),
      },
    },
    ...(found.argv[0] === undefined ? {} : { interpreter: realpathSync(found.argv[0]) }),
    digest,
    ...present({ origin }),
    installed: named.flatMap(({ name }) => {
      const version = versionInProject(root, name);
      return version === undefined ? [] : [`${name} ${version}`];
    }),
  };
}

/**
 * Returns the folder in which the project has its dependencies and its builds, and the list that they are from: the folder is a
 * copy, unless the project has none of them.
 */
async function provideModules(
  known: FoundTarget,
  found: FoundRuntime,
  { packages, digest, log }: { packages: string[]; digest: string; log: (line: string) => void },
): Promise<{ root: string; origin?: string }> {
  const { target, stack, variant } = known;
  const { argv } = found;
  const lock = stack.project?.lock;
  const { dependencies = {}, devDependencies = {} } = readNodeManifest(stack.root);
  const builds = [...stack.build, ...variant.build];
  const hasNone = Object.keys({ ...dependencies, ...devDependencies }).length === 0;
  if (lock === undefined && builds.length > 0) {
    throw new BenchError(
      'usage',
      `${stack.name} has a "build", but no package.json`,
      `add one, or omit "build" in ${stack.manifest}`,
    );
  }
  if (lock === undefined || (hasNone && packages.length + builds.length === 0))
    return { root: await provideRoot(known, digest, log) };
  const key = digestOf([], [digest, stack.root, ...argv, ...builds.flat(), 'copy'].join(' '));
  const folder = folderOf(stack, found, key);
  const copied = copyIn(folder, dirname(lock.file));
  const root = rootInCopy({ root: stack.root, lock, folder: copied });
  const make = async (): Promise<void> => {
    const managers = await provideManagers(lock, HOME.cache);
    const bin = dirname(argv[0] ?? '');
    const { version } = found.runtime;
    await makeProjectCopy({
      root: stack.root,
      lock,
      folder: copied,
      bins: [managers, bin],
      version,
      packages,
    });
    const env = { ...process.env, ...pathOf([managers, ...binsOf(root), bin]) };
    for (const words of builds) {
      const located = words.map((word) => word.replaceAll('{root}', root));
      await runBuild(located, { ...stack, root }, target.variant, env);
    }
  };
  await provideFolder(folder, make, log);
  const { foreignLock } = stack.project ?? {};
  return { root, origin: describeLock({ root: stack.root, lock, foreignLock, day: dayOf(folder) }) };
}

/** The folders of programs of a Node project and of its workspace, nearest first. */
function binsOf(root: string): string[] {
  return parentsOf(root)
    .map((folder) => join(folder, 'node_modules', '.bin'))
    .filter((bin) => existsSync(bin));
}

function pathOf(bins: string[]): Record<string, string> {
  return { PATH: [...bins, process.env['PATH'] ?? ''].join(':') };
}

/** The places where the program of a command is searched for. */
interface Place {
  root: string;
  /** The folders of programs, before those of PATH. */
  bins: string[];
  /** The folder that `{build}` means. */
  build?: string;
  /** The interpreter that `python` and `{runtime}` mean. */
  python?: string;
  /** The words that `node` and `{runtime}` mean. */
  node?: string[];
}

/** Returns a command with the path of its program. Throws a toolchain error if there is no such program. */
function locate(command: readonly string[], place: Place, what = '--run'): string[] {
  const [program = '', ...args] = command.map((word) =>
    word.replaceAll('{root}', place.root).replaceAll('{build}', place.build ?? ''),
  );
  const { python, node } = place;
  if (python !== undefined && /^(\{runtime\}|python[\d.]*t?)$/.test(program)) return [python, ...args];
  if (node !== undefined && /^(\{runtime\}|node)$/.test(program)) return [...node, ...args];
  if (program.includes('/')) {
    const path = isAbsolute(program) ? program : resolve(place.root, program);
    if (isProgram(path)) return [path, ...args];
    throw new BenchError(
      'toolchain',
      `${program} is not a program in ${place.root}`,
      `build it first, or correct ${what}`,
    );
  }
  // Outside the environment, a Python program would run with other packages, on another interpreter.
  const path = python !== undefined && languageOfProgram(program) === 'python' ? [] : foldersOnPath();
  const found = findProgram(program, [...place.bins, ...path]);
  if (found !== undefined) return [found, ...args];
  throw new BenchError(
    'toolchain',
    `${basename(program)} is not in the environment of the project${path.length === 0 ? '' : ', nor on PATH'}`,
    python === undefined
      ? `install ${program}, or correct ${what}`
      : `add ${program} to the dependencies of the project: its lock makes the environment`,
  );
}

/** Programs that are built, or that run as they are: those of users, and the compiled stacks of Bench. */
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { awaitLock } from 'bench-machine/filelock';
import { isFile, readTextFile } from 'bench-machine/files';
import { HOME, parentsOf } from 'bench-machine/home';
import { isProgram } from 'bench-machine/path';
import { ToolchainError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import type { FoundTarget } from '../../catalogue/found.ts';
import { buildsOf, findTool, runBuild, variablesOfBuilds } from '../builds.ts';
import { digestOf } from '../digest.ts';
import { readInterpreter } from '../interpreters.ts';
import { locateAll, readEnvFile, type ReadyProject } from './ready.ts';
import { sourcesOf } from './sources.ts';
import { copyProject, digestOfFiles, linkAround } from './tree.ts';

/** Returns what makes the program of a target. */
function programOf({ stack, variant }: FoundTarget): ProgramBuild {
  const { root } = stack;
  // A binary in the project is an output of its build.
  const [binary = ''] = variant.command.map((word) => resolve(root, word.replaceAll('{root}', root)));
  const sources = sourcesOf(stack).filter((file) => file !== binary);
  const commands = buildsOf(stack, variant);
  const isBuilt = commands.length > 0;
  const digest = digestOfFiles(root, isBuilt || !isProgram(binary) ? sources : [...sources, binary]);
  const isCopied = mustCopy(stack) || (isBuilt && !namesBuild(commands));
  return { commands, build: folderOfBuild(stack, commands), isCopied, digest };
}

/** Prepares a program without a runtime. Throws a toolchain error if it cannot be built. */
export async function prepareProgram(known: FoundTarget, log: (line: string) => void): Promise<ReadyProject> {
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
export async function provideRoot(
  known: FoundTarget,
  digest: string,
  log: (line: string) => void,
): Promise<string> {
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
export function copyIn(build: string, root: string): string {
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
  return buildsOf(known.stack, known.variant).length > 0
    ? inspect(known, programOf(known))
    : { tools: [], isMade: true };
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
    throw new ToolchainError(
      `the build of ${stack.name}/${target.variant} does not write ${missing.replace(build, '{build}')}`,
      `correct "build" or "command" in ${stack.manifest}`,
    );
  }
  writeFileSync(ready, made);
  return tools;
}

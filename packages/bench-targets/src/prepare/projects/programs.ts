/** Programs that are built, or that run as they are: those of users, and the compiled stacks of Bench. */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { HOME, parentsOf } from 'bench-machine/home';
import { isProgram } from 'bench-machine/path';
import { ToolchainError } from 'bench-model/errors';
import type { FoundTarget } from '../../catalogue/found.ts';
import { buildsOf, findTool, runBuilds, variablesOfBuilds } from '../builds.ts';
import { digestOf } from '../digest.ts';
import { isComplete, provideFolder } from '../environments.ts';
import { readInterpreter } from '../interpreters.ts';
import { locateAll, readEnvFile, type ReadyProject } from './ready.ts';
import { sourcesOf } from './sources.ts';
import { copyProject, digestOfFiles, linkAround } from './tree.ts';

/** Prepares a program without a runtime. Throws a toolchain error if it cannot be built. */
export async function prepareProgram(known: FoundTarget, log: (line: string) => void): Promise<ReadyProject> {
  const { stack, variant } = known;
  const commands = buildsOf(stack, variant);
  const digest = digestOfProgram(known);
  const { root, folder, tools } = await provideBuild(known, commands, digest, log);
  const located = locateAll(known, { root, bins: [], build: folder });
  const interpreter = await readInterpreter(realpathSync(located.command[0] ?? ''));
  const runsOn = interpreter && `${interpreter.implementation} ${interpreter.version}`;
  const origin = [runsOn, tools.length > 0 && `built by ${tools.join(', ')}`].filter(Boolean).join(', ');
  return {
    root,
    ...located,
    env: { ...readEnvFile(stack), ...variant.env },
    digest,
    installed: [],
    ...(origin !== '' && { origin }),
  };
}

function digestOfProgram({ stack, variant }: FoundTarget): string {
  const { root } = stack;
  const sources = new Set(sourcesOf(stack));
  // A binary in the project is an output of its build; without one, it is what runs.
  const binary = resolve(root, (variant.command[0] ?? '').replaceAll('{root}', root));
  if (buildsOf(stack, variant).length > 0) sources.delete(binary);
  else if (isProgram(binary)) sources.add(binary);
  return digestOfFiles(root, [...sources]);
}

/** Inspects the build of a target. Throws a toolchain error if a tool that it needs is missing. */
export async function inspectProgram(known: FoundTarget): Promise<{ tools: string[]; isMade: boolean }> {
  const commands = buildsOf(known.stack, known.variant);
  if (commands.length === 0) return { tools: [], isMade: true };
  const { folder, tools } = await findBuild(known, commands, digestOfProgram(known));
  return { tools, isMade: isComplete(folder) };
}

/** Returns the folder in which a project without a build starts: itself, or a copy. */
export async function provideRoot(
  known: FoundTarget,
  digest: string,
  log: (line: string) => void,
): Promise<string> {
  return (await provideBuild(known, [], digest, log)).root;
}

/** The build of a program. */
interface ProgramBuild {
  /** The folder that `{build}` means: one for all that decides what is built, and where from. */
  folder: string;
  /** The folder in which it is built and starts: that of the project, or its copy. */
  root: string;
  /** The tools that build it, e.g. `go 1.26.8`. */
  tools: string[];
}

async function findBuild(
  { stack }: FoundTarget,
  commands: string[][],
  digest: string,
): Promise<ProgramBuild> {
  const { name, root, surroundings, copy } = stack;
  const wanted = [...new Set(commands.map(([tool = '']) => tool))];
  const tools = await Promise.all(wanted.map((tool) => findTool(tool, root, `to build ${name}`)));
  const made = [resolve(root), commands, digest, variablesOfBuilds(), tools.map(({ text }) => text)];
  const folder = join(HOME.cache, 'builds', `${name}-${digestOf([], JSON.stringify(made))}`);
  // A setup may change files, such as a database, and a build that does not name {build} writes into the project.
  const isChanged = surroundings?.setup !== undefined && copy === undefined;
  const isBuilt = commands.length > 0 && !commands.flat().some((word) => word.includes('{build}'));
  return {
    folder,
    root: isChanged || isBuilt ? copyIn(folder, root) : root,
    tools: tools.map((tool) => basename(tool.name)),
  };
}

/**
 * Builds a program into a folder of the cache, in the project or a copy of it, unless the folder is complete. Throws a toolchain
 * error if the build fails, or does not write the program.
 */
async function provideBuild(
  known: FoundTarget,
  commands: string[][],
  digest: string,
  log: (line: string) => void,
): Promise<ProgramBuild> {
  const { target, stack, variant } = known;
  const build = await findBuild(known, commands, digest);
  const { folder, root } = build;
  const isCopied = root !== stack.root;
  if (!isCopied && commands.length === 0) return build;
  const make = async (): Promise<void> => {
    mkdirSync(folder);
    if (isCopied) {
      const whole = wholeOf(stack.root);
      linkAround(stack.root, whole, copyIn(folder, whole));
      copyProject(stack.root, root);
    }
    await runBuilds(known, { root, bins: [], build: folder });
    const outputs = variant.command.filter((word) => word.startsWith('{build}/'));
    const missing = outputs.find((output) => !existsSync(output.replace('{build}', folder)));
    if (missing === undefined) return;
    throw new ToolchainError(
      `the build of ${stack.name}/${target.variant} does not write ${missing}`,
      `correct "build" or "command" in ${stack.manifest}`,
    );
  };
  await provideFolder(folder, make, log);
  return build;
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

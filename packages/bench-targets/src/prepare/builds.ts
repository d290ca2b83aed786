import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { joinWords } from '../catalogue/apps/words.ts';
import { BenchError } from 'bench-model/errors';
import type { Stack, Variant } from 'bench-model/stack';
import type { FoundTarget } from '../catalogue/found.ts';
import { digestOf } from './digest.ts';
import { firstError, withoutPlaces } from './failures.ts';
import { filesOfProject } from './projects/tree.ts';
import { awaitLock } from 'bench-machine/filelock';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { unreachedError } from './unreached.ts';

/** The timeout of one build command: a release build with all dependencies on a small machine. */
const BUILD_MS = 1_800_000;
const LOG_LINES = 12;

/** The inputs of a binary; `isMade` is true if it exists. */
interface Build {
  /** The digest of the sources, of the shared sources and of the version output of the tools. */
  digest: string;
  /** The tool that builds it, e.g. `go 1.26.8`. */
  tools: string;
  isMade: boolean;
}

/** Returns true if the stack comes as sources that must be compiled. */
export function isCompiled({ stack, variant }: Pick<FoundTarget, 'stack' | 'variant'>): boolean {
  return (
    stack.project === undefined && stack.runtime === 'none' && stack.build.length + variant.build.length > 0
  );
}

/** Inspects the build of a compiled variant. Throws a toolchain error if a tool is missing. */
export async function inspectBuild(built: FoundTarget, cache: string): Promise<Build> {
  const { stack, variant } = built;
  const names = [...new Set(commandsOf(built).map(([tool = '']) => tool))];
  const tools = await Promise.all(names.map((name) => findTool(name, stack.root, `to build ${stack.name}`)));
  const digest = digestOf(sourcesOf(stack), tools.map(({ text }) => text).join(''));
  return {
    digest,
    tools: tools.map(({ name }) => name).join(', '),
    isMade: existsSync(markOf(built, digest, cache)) && existsSync(binaryOf(stack, variant)),
  };
}

/**
 * Builds a compiled variant in the folder of its stack, once per digest. Throws a toolchain error if a tool is
 * missing, and one with the first error if a build fails.
 */
export async function provideBuild(
  built: FoundTarget,
  cache: string,
  log?: (waiting: string) => void,
): Promise<Build> {
  const before = await inspectBuild(built, cache);
  if (before.isMade) return before;
  using _ = await awaitLock(join(cache, 'builds', `${built.stack.name}.lock`), log);
  const build = await inspectBuild(built, cache);
  if (build.isMade) return build;
  const mark = markOf(built, build.digest, cache);
  // This build overwrites the binaries of other sources.
  if (!existsSync(dirname(mark))) rmSync(dirname(dirname(mark)), { recursive: true, force: true });
  for (const argv of commandsOf(built)) await runBuild(argv, built.stack, built.target.variant);
  mkdirSync(dirname(mark), { recursive: true });
  writeFileSync(mark, `${build.tools}\n`);
  return { ...build, isMade: true };
}

/**
 * Runs one build command in the folder of the stack, by default in the environment of Bench. Throws a toolchain error
 * with the first error of its compiler if it fails, or else the end of its log.
 */
export async function runBuild(
  argv: string[],
  stack: Stack,
  variant: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  await run(argv, { cwd: stack.root, env, timeoutMs: BUILD_MS }).catch((error: SubprocessError) => {
    const log = `${error.stdout}${error.stderr}`.trim() || error.message;
    const unreached = unreachedError(argv.includes('pip') ? 'pip' : basename(argv[0] ?? ''), log);
    if (unreached !== undefined) throw unreached;
    const lines = firstError(log) ?? withoutPlaces(log).split('\n').slice(-LOG_LINES);
    const when = error.why === 'timeout' ? ` in ${BUILD_MS / 60_000} minutes` : '';
    throw new BenchError(
      'toolchain',
      [`${stack.name}/${variant} could not be built${when}:`, ...lines].join('\n'),
      /--locked was passed/.test(log)
        ? 'make the lock first: cargo generate-lockfile'
        : `try it by hand: ${joinWords(argv)}`,
    );
  });
}

/** Variables that change what compilers make, whatever the sources. */
const VARIABLES =
  /^(GO(ARCH|OS|AMD64|ARM64|FLAGS|EXPERIMENT|TOOLCHAIN|WORK)|CGO_\w+|CC|CXX|(C|CPP|CXX|LD)FLAGS|RUST(C|FLAGS|UP_TOOLCHAIN)\w*|CARGO_(BUILD|PROFILE|TARGET|ENCODED)\w*)$/;

/** Returns the variables of the environment that change what a build makes. */
export function variablesOfBuilds(): string[] {
  const set = Object.entries(process.env).filter(([name]) => VARIABLES.test(name));
  return set.map(([name, value]) => `${name}=${value}`).toSorted();
}

/** A tool on PATH: its name and version, and its complete version output. */
export interface Tool {
  name: string;
  text: string;
}

/** Asks a tool for its version, in the folder that it will work in. Throws a toolchain error if it is not on PATH. */
export async function findTool(tool: string, folder: string, purpose: string): Promise<Tool> {
  // A program of the stack itself is among its sources.
  if (tool.includes('/')) return { name: tool, text: '' };
  const { ask = '--version', get = `install ${tool}, and put it on PATH` } = TOOLS[tool] ?? {};
  try {
    const { stdout: text } = await run([tool, ask], { cwd: folder });
    return { name: nameOf(tool, text), text };
  } catch (error) {
    if (!(error instanceof SubprocessError)) throw error;
    const { why, stdout: text } = error;
    // Some tools print their version and fail anyway.
    if (why !== 'missing') return { name: nameOf(tool, text), text };
    throw new BenchError('toolchain', `${tool} is not on PATH, but needed ${purpose}`, get);
  }
}

function nameOf(tool: string, text: string): string {
  return `${tool} ${/\d+(\.\d+)+/.exec(text)?.[0] ?? ''}`.trim();
}

/** The version option of a tool, `--version` by default, and how to install the tool. */
const TOOLS: Record<string, { ask?: string; get: string }> = {
  go: { ask: 'version', get: 'install Go (go.dev/dl), and put go on PATH' },
  cargo: { get: 'install Rust (rustup.rs), and put cargo on PATH' },
  dotnet: { get: 'install the .NET 10 SDK (dotnet.microsoft.com/download), and put dotnet on PATH' },
  mvn: { get: 'install Maven, and put mvn on PATH; or add its wrapper to the project' },
  gradle: { get: 'install Gradle, and put gradle on PATH; or add its wrapper to the project' },
  wrk: { ask: '-v', get: 'install the package wrk, or choose another engine' },
  k6: { get: 'install k6 (grafana.com/docs/k6), or choose another engine' },
};

/**
 * Returns the outputs of a stack's builds: the entries of its folder, and of the shared folders, that hold its
 * binaries.
 */
export function outputsOf(stack: Stack): string[] {
  const binaries = Object.values(stack.variants)
    .filter((variant) => isCompiled({ stack, variant }))
    .map((variant) => binaryOf(stack, variant));
  const outputs = foldersOf(stack).flatMap((folder) =>
    binaries
      .map((binary) => relative(folder, binary).split('/')[0] ?? '')
      .filter((top) => top !== '..')
      .map((top) => join(folder, top)),
  );
  return [...new Set(outputs)];
}

/** Returns the folder of a stack and those that it shares. */
function foldersOf(stack: Stack): string[] {
  return [stack.root, ...stack.shares.map((folder) => join(stack.root, folder))];
}

function binaryOf(stack: Stack, { command: [binary = ''] }: Variant): string {
  return binary.replaceAll('{root}', stack.root);
}

function commandsOf({ stack, variant }: FoundTarget): string[][] {
  return [...stack.build, ...variant.build].map((argv) =>
    argv.map((word) => word.replaceAll('{root}', stack.root)),
  );
}

function markOf({ stack, target }: FoundTarget, digest: string, cache: string): string {
  return join(cache, 'builds', stack.name, digest, target.variant);
}

/** Returns all files in the folder of a stack and in those that it shares, except for the outputs of tools. */
function sourcesOf(stack: Stack): string[] {
  const outputs = new Set(outputsOf(stack).map((path) => basename(path)));
  return foldersOf(stack).flatMap((folder) => filesOfProject(folder, outputs));
}

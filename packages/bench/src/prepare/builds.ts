import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { BenchError } from '../errors.ts';
import type { Stack, Variant } from '../catalogue/stack.ts';
import { digestOf } from './digest.ts';
import { awaitLock } from '../machine/filelock.ts';
import { unreachedError } from './unreached.ts';

const run = promisify(execFile);

/** For one command: a release build of all that a stack depends on, on a small machine. */
const BUILD_MS = 1_800_000;
const LOG_LINES = 12;

/** A variant that is built before it runs. */
export interface Built {
  stack: Stack;
  variant: Variant;
  /** The variant's. */
  name: string;
}

/** What a binary is built from, and whether it is there. */
export interface Build {
  /** Of the sources, those that the stack shares, and what its tools say of themselves. */
  digest: string;
  /** What builds it, e.g. `go 1.26.8`. */
  tools: string;
  isMade: boolean;
}

/** Whether a stack comes as sources that have to be built into a binary. */
export function isCompiled({ stack, variant }: Omit<Built, 'name'>): boolean {
  return stack.runtime === 'none' && stack.build.length + variant.build.length > 0;
}

/** Looks at the build of a compiled variant. Throws a toolchain error when a tool is not here. */
export async function inspectBuild(built: Built, cache: string): Promise<Build> {
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
 * Builds a compiled variant in its stack's folder, once for each digest. Throws a toolchain error when a tool is not
 * here, and with the end of its log when a build fails.
 */
export async function provideBuild(
  built: Built,
  cache: string,
  tell?: (waiting: string) => void,
): Promise<Build> {
  const before = await inspectBuild(built, cache);
  if (before.isMade) return before;
  using _ = await awaitLock(join(cache, 'builds', `${built.stack.name}.lock`), tell);
  const build = await inspectBuild(built, cache);
  if (build.isMade) return build;
  const mark = markOf(built, build.digest, cache);
  // This build overwrites what other sources were built to.
  if (!existsSync(dirname(mark))) rmSync(dirname(dirname(mark)), { recursive: true, force: true });
  for (const argv of commandsOf(built)) await runBuild(argv, built.stack, built.name);
  mkdirSync(dirname(mark), { recursive: true });
  writeFileSync(mark, `${build.tools}\n`);
  return { ...build, isMade: true };
}

/** Runs one build command in the stack's folder. Throws a toolchain error with the end of its log when it fails. */
export async function runBuild(
  [command = '', ...args]: string[],
  stack: Stack,
  variant: string,
): Promise<void> {
  await run(command, args, { cwd: stack.root, timeout: BUILD_MS, maxBuffer: Infinity }).catch(
    (error: { stdout?: string; stderr?: string; message: string; killed?: boolean }) => {
      const log = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim() || error.message;
      const unreached = unreachedError(args.includes('pip') ? 'pip' : basename(command), log);
      if (unreached !== undefined) throw unreached;
      const end = withoutPlaces(log).split('\n').slice(-LOG_LINES);
      const when = error.killed === true ? ` in ${BUILD_MS / 60_000} minutes` : '';
      throw new BenchError(
        'toolchain',
        [`${stack.name}/${variant} could not be built${when}:`, ...end].join('\n'),
        `in ${stack.manifest}, see "build"`,
      );
    },
  );
}

/** A log without addresses and the folders of this machine: what is left out of a run is kept in its record. */
function withoutPlaces(log: string): string {
  return log.replaceAll(/\w+:\/\/[^\s`'"]+/g, '…').replaceAll(/(?<![\w.])(?:\/[\w.@+~-]+)+\//g, '…/');
}

/** A tool on PATH: its name and version, and all that it says of itself. */
export interface Tool {
  name: string;
  text: string;
}

/** Asks a tool what it is, in the folder that it is to work in. Throws a toolchain error when it is not on PATH. */
export async function findTool(tool: string, folder: string, purpose: string): Promise<Tool> {
  // A program of the stack's own is among its sources.
  if (tool.includes('/')) return { name: tool, text: '' };
  const { ask = '--version', get = `install ${tool}, and put it on PATH` } = TOOLS[tool] ?? {};
  try {
    const { stdout: text } = await run(tool, [ask], { cwd: folder });
    return { name: nameOf(tool, text), text };
  } catch (error) {
    const { code, stdout: text = '' } = error as NodeJS.ErrnoException & { stdout?: string };
    // Some tell their version and fail all the same.
    if (code !== 'ENOENT') return { name: nameOf(tool, text), text };
    throw new BenchError('toolchain', `${tool} is not on PATH: it is needed ${purpose}`, get);
  }
}

function nameOf(tool: string, text: string): string {
  return `${tool} ${/\d+(\.\d+)+/.exec(text)?.[0] ?? ''}`.trim();
}

/** How a tool is asked for its version, `--version` unless told, and how to get it. */
const TOOLS: Record<string, { ask?: string; get: string }> = {
  go: { ask: 'version', get: 'install Go (go.dev/dl), and put go on PATH' },
  cargo: { get: 'install Rust (rustup.rs), and put cargo on PATH' },
  dotnet: { get: 'install the .NET 10 SDK (dotnet.microsoft.com/download), and put dotnet on PATH' },
  wrk: { ask: '-v', get: 'install the package wrk, or leave the engine away' },
  oha: { get: 'cargo install oha, or leave the engine away' },
  k6: { get: 'install k6 (grafana.com/docs/k6), or leave the engine away' },
};

/** What the builds of a stack leave beside the sources: the entries of its folder, and of those it shares, that its binaries lie in. */
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

/** A stack's folder and those that it shares. */
function foldersOf(stack: Stack): string[] {
  return [stack.root, ...stack.shares.map((folder) => join(stack.root, folder))];
}

function binaryOf(stack: Stack, { command: [binary = ''] }: Variant): string {
  return binary.replaceAll('{root}', stack.root);
}

function commandsOf({ stack, variant }: Built): string[][] {
  return [...stack.build, ...variant.build].map((argv) =>
    argv.map((word) => word.replaceAll('{root}', stack.root)),
  );
}

function markOf({ stack, name }: Built, digest: string, cache: string): string {
  return join(cache, 'builds', stack.name, digest, name);
}

/** All files of a stack's folder and of those that it shares, but for what tools have made of them. */
function sourcesOf(stack: Stack): string[] {
  const made = new Set(['.git', 'node_modules', ...outputsOf(stack).map((path) => basename(path))]);
  return foldersOf(stack).flatMap((folder) =>
    globSync('**/*', { cwd: folder, withFileTypes: true, exclude: ({ name }) => made.has(name) })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
}

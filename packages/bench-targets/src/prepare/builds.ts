import { basename, join } from 'node:path';
import { joinWords } from '../catalogue/projects/words.ts';
import { HOME } from 'bench-machine/home';
import { ToolchainError } from 'bench-model/errors';
import type { Stack, Variant } from 'bench-model/stack';
import type { FoundTarget } from '../catalogue/found.ts';
import { firstError, withoutPlaces } from './failures.ts';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { locate, fillPlace, pathOf, type Place } from './projects/ready.ts';
import { unreachedError } from './unreached.ts';

/** The timeout of one build command: a release build with all dependencies on a small machine. */
const BUILD_MS = 1_800_000;
const LOG_LINES = 12;

/** Where Cargo keeps what it compiled for any build: two revisions share their dependencies. What it makes goes into `{build}`. */
export const CARGO = { CARGO_BUILD_BUILD_DIR: join(HOME.cache, 'cargo') };

/** Returns the commands that build a variant. */
export function buildsOf(stack: Stack, variant: Variant): string[][] {
  return [...stack.build, ...variant.build];
}

/** Runs all build commands of a target at a place, in their order. Throws what `runBuild` throws. */
export async function runBuilds({ stack, target, variant }: FoundTarget, place: Place): Promise<void> {
  const name = `${stack.name}/${target.variant}`;
  for (const words of buildsOf(stack, variant)) await runBuild(words, place, name);
}

/**
 * Runs a build command, with the programs of its place first on PATH. Throws a toolchain error with the first error of its
 * compiler if it fails, or else the end of its log.
 */
export async function runBuild(words: string[], place: Place, name: string): Promise<void> {
  const argv = locate(words, place, '"build"');
  const env = { ...CARGO, ...process.env, ...pathOf(place.bins) };
  await run(argv, { cwd: place.root, env, timeoutMs: BUILD_MS }).catch((error: SubprocessError) => {
    const log = `${error.stdout}${error.stderr}`.trim() || error.message;
    const unreached = unreachedError(argv.includes('pip') ? 'pip' : basename(argv[0] ?? ''), log);
    if (unreached !== undefined) throw unreached;
    const lines = firstError(log) ?? withoutPlaces(log).split('\n').slice(-LOG_LINES);
    const when = error.why === 'timeout' ? ` in ${BUILD_MS / 60_000} minutes` : '';
    throw new ToolchainError(
      [`${name} could not be built${when}:`, ...lines].join(lines.length === 1 ? ' ' : '\n'),
      /--locked was passed/.test(log)
        ? 'make the lock first: cargo generate-lockfile'
        : `try it by hand: ${joinWords(fillPlace(words, place))}`,
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
    throw new ToolchainError(`${tool} is not on PATH, but needed ${purpose}`, get);
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

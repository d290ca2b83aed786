/** What launches a project: its command with the paths of its programs, and its variables. */
import { realpathSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isFile, readTextFile } from 'bench-machine/files';
import { findProgram, foldersOnPath, isProgram } from 'bench-machine/path';
import { ToolchainError, UsageError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import type { ResolvedRuntime } from 'bench-model/target';
import { languageOfProgram } from '../../catalogue/projects/project.ts';
import type { FoundTarget } from '../../catalogue/found.ts';
import { environmentOfRuntime } from '../../catalogue/runtimes.ts';
import type { FoundRuntime } from '../runtimes.ts';

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

/** Returns a target that this runtime runs. `list` is the file that its packages are from, and `env` has variables of its environment. */
export function runOn(
  known: FoundTarget,
  { runtime }: FoundRuntime,
  place: Required<Pick<Place, 'runtime'>> & Place,
  { list, env }: { list?: string | undefined; env?: Record<string, string> } = {},
): Omit<ReadyProject, 'digest' | 'installed'> {
  const { stack, variant } = known;
  const [program = ''] = place.runtime.argv;
  return {
    root: place.root,
    ...locateAll(known, place),
    env: {
      ...environmentOfRuntime(runtime),
      ...readEnvFile(stack),
      ...variant.env,
      ...pathOf(place.bins),
      ...env,
    },
    runtime: {
      ...runtime,
      build: { ...runtime.build, ...(list !== undefined && { environment: basename(list) }) },
    },
    interpreter: realpathSync(program),
  };
}

/** Returns the commands of a variant with the paths of their programs. */
export function locateAll(
  { stack, variant }: FoundTarget,
  place: Place,
): Pick<ReadyProject, 'command' | 'setup'> {
  const { setup } = stack.surroundings ?? {};
  return {
    command: locate(variant.command, place),
    ...(setup === undefined ? {} : { setup: locate(setup.command, place, 'the setup') }),
  };
}

/** The places where the program of a command is searched for. */
export interface Place {
  root: string;
  /** The folders of programs, before those of PATH. */
  bins: string[];
  /** The folder that `{build}` means. */
  build?: string;
  /** The words that `{runtime}` and the names of its programs mean. */
  runtime?: { kind: 'python' | 'node'; argv: string[] };
}

/** Returns words with the paths of a place. */
export function fillPlace(words: readonly string[], { root, build = '', runtime }: Place): string[] {
  const [program = ''] = runtime?.argv ?? [];
  return words.map((word) =>
    word.replaceAll('{root}', root).replaceAll('{build}', build).replaceAll('{runtime}', program),
  );
}

const RUNTIMES = { python: /^(\{runtime\}|python[\d.]*t?)$/, node: /^(\{runtime\}|node)$/ };

/** Returns a command with the path of its program. Throws a toolchain error if there is no such program. */
export function locate(command: readonly string[], place: Place, what = '--run'): string[] {
  const { kind, argv } = place.runtime ?? {};
  const [first = ''] = command;
  const [program = '', ...args] = fillPlace(command, place);
  if (kind !== undefined && argv !== undefined && RUNTIMES[kind].test(first)) return [...argv, ...args];
  if (program.includes('/')) {
    const path = isAbsolute(program) ? program : resolve(place.root, program);
    if (isProgram(path)) return [path, ...args];
    throw new ToolchainError(
      `${program} is not a program in ${place.root}`,
      `build it first, or correct ${what}`,
    );
  }
  // Outside the environment, a Python program would run with other packages, on another interpreter.
  const path = kind === 'python' && languageOfProgram(program) === 'python' ? [] : foldersOnPath();
  const found = findProgram(program, [...place.bins, ...path]);
  if (found !== undefined) return [found, ...args];
  throw new ToolchainError(
    `${basename(program)} is not in the environment of the project${path.length === 0 ? '' : ', nor on PATH'}`,
    kind !== 'python'
      ? `install ${program}, or correct ${what}`
      : `add ${program} to the dependencies of the project: its lock makes the environment`,
  );
}

/** Returns the PATH on which programs are found in these folders first. */
export function pathOf(bins: string[]): Record<string, string> {
  return { PATH: [...bins, process.env['PATH'] ?? ''].join(':') };
}

/** A value for the secrets that an example leaves empty: long enough for the usual checks. */
const ANY_SECRET = '0123456789abcdef'.repeat(4);

/**
 * Returns the variables of a project's file that the user does not set. Secrets that it leaves empty get a value, because servers
 * refuse to start without. Throws a usage error if there is no such file.
 */
export function readEnvFile({ root, envFile, manifest }: Stack): Record<string, string> {
  if (envFile === undefined) return {};
  const file = join(root, envFile);
  if (!isFile(file))
    throw new UsageError(`${manifest}: ${envFile} does not exist`, 'name a file of the project');
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

/** The ways to start the server of a project, read from its files. Changes no file, and runs nothing. */
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { foldersOf } from '../files.ts';
import { readNodeManifest, readPyproject } from '../manifests.ts';
import { languageOfProgram, runtimeOf } from '../project.ts';
import { leavesFolder } from '../services.ts';
import { splitCommand, type Words } from '../words.ts';
import { isBesideService, isForDevelopment } from './address.ts';
import { toldByCompiled } from './compiled.ts';
import { toldByContainers } from './containers.ts';
import { readLine } from './line.ts';
import { buildOfStart, toldByNodeSources, toldByScripts } from './node.ts';
import { toldByPrograms, toldByPython } from './python.ts';
import type { Told, Way } from './way.ts';

export { isJob } from './address.ts';
export { findImageStep } from './containers.ts';
export { buildOfNode } from './node.ts';
export type { Way } from './way.ts';

/** What tells of ways in a folder, nearest to production first. */
const TELLING = [toldByScripts, toldByPython, toldByNodeSources, toldByCompiled, toldByPrograms];

/** Returns the ways to start the server of the project in `root`, nearest to production first. Throws a usage error for a broken manifest. */
export function findWays(root: string): Way[] {
  const folders = foldersOf(root);
  const told = TELLING.flatMap((tell) => folders.flatMap((folder) => tell(root, folder)));
  const all = [...toldByContainers(root), ...told]
    .flatMap((one) => toWay(root, one) ?? [])
    .filter(({ command }) => !isBesideService(command));
  return [...Map.groupBy(all, keyOf).values()]
    .flatMap(([first]) => first ?? [])
    .toSorted((a, b) => Number(a.isForDevelopment) - Number(b.isForDevelopment));
}

/** Two places may name one command in two forms. */
function keyOf({ folder, command }: Way): string {
  return `${folder} ${command.join(' ').replaceAll(/(?<= )\.\//g, '')}`;
}

/** The languages of projects by a file, with a command that starts a server in them. */
const LANGUAGES: [file: string, language: string, command: string][] = [
  ['Gemfile', 'Ruby', 'bundle exec puma --bind tcp://{host}:{port}'],
  ['composer.json', 'PHP', 'php -S {host}:{port} -t public'],
  ['mix.exs', 'Elixir', 'mix phx.server'],
  ['go.mod', 'Go', '{build}/server --port {port}'],
  ['deno.json', 'Deno', 'deno run -A main.ts'],
  ['package.json', 'Node', 'node server.js'],
];

/** Returns the language of a project, by its files, and a command that starts a server in it. */
export function languageOf(root: string): { language: string; command: string } {
  const [, language = 'Python', command = 'uvicorn app:app --port {port}'] =
    LANGUAGES.find(([file]) => existsSync(join(root, file))) ?? [];
  return { language, command };
}

/**
 * Reads the way of a user's command line, with the build and language that the project's files show. Throws a usage
 * error if it starts a program in `{build}` that nothing in the project makes.
 */
export function readWay(root: string, line: string): Way {
  const told: Told = { folder: '', why: '--run', line };
  // A command that only a shell understands is refused with the place of the sign.
  const way = toWay(root, told) ?? finish(root, told, splitCommand(line, '--run'));
  const [program = ''] = way.command;
  if (!/^\{build\}|^dotnet$|^java$/.test(program)) return way;
  const built = findWays(root).filter(({ build }) => build.length > 0);
  const known = built.find((one) => one.command[0] === program);
  // Other arguments do not change how a program is built.
  if (known !== undefined)
    return { ...known, command: way.command, env: { ...known.env, ...way.env }, why: way.why };
  if (!program.startsWith('{build}')) return way;
  throw new BenchError(
    'usage',
    `--run ${line}: nothing in the project says how ${program} is built`,
    built.length > 0
      ? `Bench builds ${built.map((one) => one.command[0]).join(', ')}`
      : 'name a program that you have built: --run ./server; or write a stack.json with "build"',
  );
}

/** Returns the way that a place tells; undefined if its line starts no server of the project. */
function toWay(root: string, told: Told): Way | undefined {
  const { folder, line, env = {}, isForeign = false } = told;
  const place = join(root, folder);
  const read = readLine(line, { place, env, isForeign });
  if (read === undefined) return undefined;
  const [program = '', ...args] = read.words;
  // The programs of an image have their own folders.
  const own = isForeign && isAbsolute(program) ? basename(program) : program;
  const words = [own, ...args];
  if (isForeign && !isOfProject(words, place)) return undefined;
  // An image may start what it has built, which is not in the project.
  if (own.includes('/') && !own.startsWith('{') && !existsSync(resolve(place, own))) return undefined;
  const way = finish(root, told, { words, env: { ...env, ...read.env } });
  const script = args.find((word) => /\.(?:py|[cm]?[jt]s)$/.test(word));
  const isMissing = isForeign && script !== undefined && !existsSync(resolve(place, script));
  return isMissing && way.build.length === 0 ? undefined : way;
}

/** Returns true if a command that an image names starts a program of the project, or a known server; false for Cron or Apache. */
function isOfProject(words: readonly string[], place: string): boolean {
  const [program = ''] = words;
  if (program.includes('/')) return !leavesFolder(place, program);
  const { dependencies = {}, devDependencies = {} } = readNodeManifest(place);
  const listed = { ...dependencies, ...devDependencies, ...readPyproject(place).scripts };
  return languageOfProgram(program) !== undefined || program in listed;
}

function finish(root: string, told: Told, { words, env }: Words): Way {
  const { folder, why, before, build } = told;
  const place = join(root, folder);
  const runtime = build === undefined ? runtimeOf(place, words[0] ?? '') : 'none';
  const isTypeScript = words.some((word) => /\.[cm]?tsx?$/.test(word));
  const ofNode = isTypeScript ? 'typescript' : 'javascript';
  const built = runtime === 'node' ? buildOfStart(place, words) : build;
  return {
    folder,
    command: words,
    env,
    build: built === undefined ? [] : [built],
    ...present({ setup: before }),
    language: told.language ?? { python: 'python', node: ofNode, none: 'unknown' }[runtime],
    runtime,
    why,
    isForDevelopment: isForDevelopment(words) || /scripts\.(?:\S*:)?dev$|: (?:app\.)?run\(/.test(why),
  };
}

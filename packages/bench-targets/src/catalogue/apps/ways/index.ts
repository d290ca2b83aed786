/** The ways to start the server of a project, read from its files. Changes no file, and runs nothing. */
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { foldersOf } from '../files.ts';
import { readNodeManifest, readPyproject } from '../../projects/manifests.ts';
import { languageOfProgram, runtimeOf } from '../../projects/project.ts';
import { leavesFolder } from '../../services.ts';
import { splitCommand, type Words } from '../../projects/words.ts';
import { isBesideService, isForDevelopment, isOfImage, withAddress } from './address.ts';
import { toldByCompiled } from './compiled.ts';
import { toldByContainers } from './containers.ts';
import { follow, inShell } from '../../projects/line.ts';
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
  const told = TELLING.flatMap((tell) =>
    folders.flatMap((folder) =>
      tell(join(root, folder)).map((one) => ({ ...one, folder, why: join(folder, one.why) })),
    ),
  );
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

/**
 * Reads the way of a user's command line, with the build and language that the project's files show. Throws a usage
 * error if it starts a program in `{build}` that nothing in the project makes.
 */
export function readWay(root: string, line: string): Way {
  const told: Told = { why: '--run', words: inShell(line) };
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
  throw new UsageError(
    `--run ${line}: nothing in the project says how ${program} is built`,
    built.length > 0
      ? `Bench builds ${built.map((one) => one.command[0]).join(', ')}`
      : 'name a program that you have built: --run ./server; or write a stack.json with "build"',
  );
}

/** Returns the way that a place tells; undefined if its command starts no server of the project. */
function toWay(root: string, told: Told): Way | undefined {
  const { folder = '', words: typed, env = {}, isForeign = false } = told;
  const place = join(root, folder);
  const found = follow({ words: typed, env }, place);
  if (found === undefined || (isForeign && isOfImage(found.words))) return undefined;
  const [program = '', ...args] = withAddress(found.words);
  // The programs of an image have their own folders.
  const own = isForeign && isAbsolute(program) ? basename(program) : program;
  if (isForeign && !isOfProject(own, place)) return undefined;
  const isThere = (file: string): boolean => existsSync(resolve(place, file));
  // An image may start what it has built, which is not in the project.
  if (own.includes('/') && !own.startsWith('{') && !isThere(own)) return undefined;
  const way = finish(root, told, { words: [own, ...args], env: found.env });
  const script = args.find((word) => /\.(?:py|[cm]?[jt]s)$/.test(word));
  const isMissing = isForeign && script !== undefined && !isThere(script);
  return isMissing && way.build.length === 0 ? undefined : way;
}

/** Returns true if an image names a program of the project, or a known server; false for Cron or Apache. */
function isOfProject(program: string, place: string): boolean {
  if (program.includes('/')) return !leavesFolder(place, program);
  const listed = { ...readNodeManifest(place).listed, ...readPyproject(place).scripts };
  return languageOfProgram(program) !== undefined || program in listed;
}

function finish(root: string, told: Told, { words, env }: Words): Way {
  const { folder = '', why, setup } = told;
  const place = join(root, folder);
  const runtime = told.build === undefined ? runtimeOf(place, words[0] ?? '') : 'none';
  const ofNode = words.some((word) => /\.[cm]?tsx?$/.test(word)) ? 'typescript' : 'javascript';
  return {
    folder,
    command: words,
    env,
    build: told.build ?? (runtime === 'node' ? buildOfStart(place, words) : []),
    ...present({ setup }),
    language: told.language ?? { python: 'python', node: ofNode, none: 'unknown' }[runtime],
    runtime,
    why,
    isForDevelopment: isForDevelopment(words) || /scripts\.(?:\S*:)?dev$|: (?:app\.)?run\(/.test(why),
  };
}

/** The ways to start the server of a project, read from its files. Changes no file. */
import { basename, isAbsolute, join, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import { BenchError } from 'bench-model/errors';
import { readNodeManifest, readPyproject } from '../manifests.ts';
import { languageOfProgram } from '../project.ts';
import { leavesFolder } from '../services.ts';
import { joinSteps, splitCommand, type Words } from '../words.ts';
import { startsOfGo, startsOfRust } from './compiled.ts';
import { startsOfJava } from './java.ts';
import { toldByContainers } from './container.ts';
import { foldersOf } from './files.ts';
import { isEntry, readLine, type Line } from './line.ts';
import { isBesideService, isForDevelopment, isServer, programOf } from './listen.ts';
import { buildsOfNode, frameworkOfNode, toldByNodeSources, toldByScripts } from './node.ts';
import { stepsOfDjango, textOfPython, toldByPrograms, toldByPython } from './python.ts';
import { PLACES, type Start, type Told } from './start.ts';

export { projectAbove } from './files.ts';
export type { Start } from './start.ts';

/** The ways to start a server, best first: those of the place nearest to production, then the others. */
interface Starts {
  best: Start[];
  others: Start[];
  /** What starts a program that is never the service, such as a watcher or the server of its documentation. */
  beside: Start[];
}

/** Returns the ways to start the server of the project in `root`. Throws a usage error for a broken manifest. */
export function findStarts(root: string): Starts {
  const folders = foldersOf(root);
  const told = [
    ...toldByContainers(root),
    ...folders.flatMap((folder) => [
      ...toldByScripts(root, folder),
      ...toldByPython(root, folder),
      ...toldByNodeSources(root, folder),
      ...toldByPrograms(root, folder),
    ]),
  ];
  const all = told.flatMap((one) => {
    const start = toStart(root, one);
    return start === undefined ? [] : [{ place: one.place, start }];
  });
  const [read, beside] = split(
    all,
    ({ start }) => !isBesideService(start.command) && !isEntry(start.command),
  );
  // An image, a compose file and a Procfile of one folder start the same server: the first for production is enough.
  const named = [...Map.groupBy(read, ({ place, start }) => `${place} ${start.folder}`).values()].flatMap(
    (ones) =>
      ones[0]?.place === 'sources'
        ? ones
        : (ones.find(({ start }) => !start.isForDevelopment) ?? ones.slice(0, 1)),
  );
  const compiled = folders.flatMap((folder) => [
    ...startsOfGo(root, folder),
    ...startsOfRust(root, folder),
    ...startsOfJava(root, folder),
  ]);
  const sorted = [...named, ...compiled.map((start) => ({ place: 'sources' as const, start }))].toSorted(
    (a, b) =>
      Number(a.start.isForDevelopment) - Number(b.start.isForDevelopment) ||
      PLACES.indexOf(a.place) - PLACES.indexOf(b.place) ||
      depthOf(a.start.folder) - depthOf(b.start.folder),
  );
  const unique = [
    ...Map.groupBy(sorted, ({ start }) => JSON.stringify([start.folder, start.command])).values(),
  ].flatMap(([first]) => first ?? []);
  const [first] = unique;
  const isBest = ({ place, start }: (typeof unique)[number]): boolean =>
    place === first?.place &&
    start.isForDevelopment === first.start.isForDevelopment &&
    depthOf(start.folder) === depthOf(first.start.folder);
  const starts = unique.map(({ start }) => start);
  const count = unique.filter(isBest).length;
  return {
    best: starts.slice(0, count),
    others: starts.slice(count),
    beside: beside.map(({ start }) => start),
  };
}

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter((one) => isFirst(one)), all.filter((one) => !isFirst(one))];
}

/** The languages whose layouts Bench does not know, by a file of their projects, with a command that starts a server. */
const OTHERS: Record<string, [language: string, command: string]> = {
  Gemfile: ['Ruby', 'bundle exec puma --bind tcp://{host}:{port}'],
  'composer.json': ['PHP', 'php -S {host}:{port} -t public'],
  'mix.exs': ['Elixir', 'mix phx.server'],
};

/** Returns the language of a project whose layout Bench does not know, and a command that may start its server. */
export function findOther(root: string): { file: string; language: string; command: string } | undefined {
  for (const [file, [language, command]] of Object.entries(OTHERS))
    if (existsSync(join(root, file))) return { file, language, command };
  return undefined;
}

/** Returns true if a command names a runtime of JavaScript beside Node, which Bench can fetch. */
export function isBunOrDeno([program = '']: readonly string[]): boolean {
  return /^(bun|deno)$/.test(program);
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length;
}

/**
 * Describes the start by a user's command line, with the language and framework that the project's files show. Throws a usage
 * error if it starts a program in `{build}` that nothing in the project makes.
 */
export function describeStart(root: string, line: string): Start {
  const { best, others } = findStarts(root);
  const starts = [...best, ...others];
  const told: Told = { place: 'scripts', folder: '', why: '--run', line };
  // A command that only a shell understands is refused with the place of the sign.
  const start = toStart(root, told) ?? plainStart(root, splitCommand(line, '--run'));
  const [program = ''] = start.command;
  if (program.startsWith('{build}')) {
    // Other arguments do not change how a program is built.
    const built = starts.find(({ command }) => command[0] === program);
    if (built === undefined) return refuseUnbuilt(line, program, starts);
    return { ...built, command: start.command, env: start.env, why: start.why };
  }
  const [known] = starts;
  return known?.language === start.language ? { ...start, framework: known.framework } : start;
}

function refuseUnbuilt(line: string, program: string, starts: readonly Start[]): never {
  const programs = starts.flatMap(({ build, command }) => (build.length > 0 ? (command[0] ?? []) : []));
  throw new BenchError(
    'usage',
    `--run ${line}: nothing in the project says how ${program} is built`,
    programs.length > 0
      ? `Bench builds ${[...new Set(programs)].join(', ')}`
      : 'name a program that you have built: --run ./server; or write a stack.json with "build"',
  );
}

function plainStart(root: string, { words, env }: Words): Start {
  return finish(
    root,
    { place: 'scripts', folder: '', why: '--run', line: words },
    { command: words, env, build: [], setup: [] },
  );
}

/** Returns the start that a place tells; undefined if its line starts no server of the project. */
function toStart(root: string, told: Told): Start | undefined {
  const { folder, line, env = {}, copied = [] } = told;
  const isForeign = told.place === 'container';
  const around = { root, folder, env, copied, isForeign };
  const read = readLine(line, around);
  if (read === undefined) return undefined;
  if (isForeign) {
    const [program = '', ...args] = read.command;
    // The programs of an image have their own folders.
    if (isAbsolute(program)) read.command = [basename(program), ...args];
    if (!isOfProject(read.command, join(root, folder))) return undefined;
  }
  if (!mayExist(read.command[0] ?? '', join(root, folder))) return undefined;
  const before = (told.before ?? []).flatMap((one) => {
    const found = readLine(one, { ...around, isForeign: false });
    return found === undefined ? [] : [...found.setup, found.command];
  });
  const named = [...before, ...read.setup];
  // A place that tells no step leaves them to its host.
  const setup =
    named.length === 0 && languageOfProgram(programOf(read.command)) === 'python'
      ? stepsOfDjango(join(root, folder))
      : named;
  return finish(root, told, { ...read, env: { ...env, ...read.env }, setup });
}

/** Returns true if a command that an image names starts a program of the project, or a known server; false for Cron or Apache. */
function isOfProject(words: readonly string[], place: string): boolean {
  const [program = ''] = words;
  if (program.includes('/')) return !leavesFolder(place, program);
  const { dependencies = {}, devDependencies = {} } = readNodeManifest(place);
  const { project, tool } = readPyproject(place);
  const listed = { ...dependencies, ...devDependencies, ...project?.scripts, ...tool?.poetry?.scripts };
  return languageOfProgram(program) !== undefined || isServer(words) || program in listed;
}

/** An image may start what it has built, which is not in the project. */
function mayExist(program: string, place: string): boolean {
  return !program.includes('/') || program.startsWith('{') || existsSync(resolve(place, program));
}

function finish(root: string, { folder, why, packages = [], framework }: Told, line: Line): Start {
  const place = join(root, folder);
  const { command, env, build, setup } = line;
  const listed = textOfPython(place);
  const kind = kindOf(place, command, listed);
  // Only the server itself: the other packages of an image belong to its surroundings.
  const missing = packages.filter(
    (name) => nameIn(name) === programOf(command) && !listed.includes(nameIn(name)),
  );
  return {
    ...kind,
    folder,
    command,
    env,
    build: kind.runtime === 'node' ? dedupe([...build, ...(build.length > 0 ? [] : kind.build)]) : kind.build,
    ...(setup.length === 0 ? {} : { setup: joinSteps(setup) }),
    packages: kind.runtime === 'python' ? missing : [],
    ...(framework === undefined ? {} : { framework }),
    why,
    isForDevelopment: isForDevelopment(command),
  };
}

function nameIn(requirement: string): string {
  return requirement.replace(/[[=<>].*/, '');
}

function dedupe(commands: string[][]): string[][] {
  return [...new Map(commands.map((words) => [words.join(' '), words])).values()];
}

type Kind = Pick<Start, 'language' | 'framework' | 'runtime' | 'build'>;

/** Returns what a command runs on, in a folder whose Python dependencies are `listed`. */
function kindOf(root: string, words: readonly string[], listed: string): Kind {
  const [program = ''] = words;
  const isNode = languageOfProgram(program) === 'node';
  const isPython = listed !== '';
  if (isNode || (existsSync(join(root, 'package.json')) && !isPython))
    return {
      language: words.some((word) => /\.[cm]?ts$/.test(word)) ? 'typescript' : 'javascript',
      framework: frameworkOfNode(root),
      runtime: 'node',
      build: buildsOfNode(root, words),
    };
  const isBinary = program.includes('/') && programOf(words) === basename(program);
  const kind =
    isBinary || !isPython
      ? ({ language: 'unknown', runtime: 'none' } as const)
      : ({ language: 'python', runtime: 'python' } as const);
  return { ...kind, framework: isPython ? frameworkOfPython(listed) : 'unknown', build: [] };
}

function frameworkOfPython(listed: string): string {
  const known = [
    'fastapi',
    'litestar',
    'django',
    'flask',
    'starlette',
    'aiohttp',
    'sanic',
    'quart',
    'bottle',
    'falcon',
  ];
  return known.find((name) => new RegExp(`\\b${name}\\b`, 'i').test(listed)) ?? 'unknown';
}

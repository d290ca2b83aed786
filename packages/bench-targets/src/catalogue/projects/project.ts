/** The language and the dependencies of a user's project. */
import type { Lock, LockKind, Project } from 'bench-model/stack';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isFile, readTextFile, showPath } from 'bench-machine/files';
import { readNames } from 'bench-machine/procfs';
import { UsageError } from 'bench-model/errors';
import { parentsOf } from 'bench-machine/home';
import { present } from 'bench-model/options';
import type { RuntimeKind } from 'bench-model/target';
import { PNPM_WORKSPACE, readNodeManifest, readPnpmMembers } from './manifests.ts';
import { findPinned } from './pinned.ts';

type Language = 'python' | 'node';

/** The locks of each language, best first. */
const LOCKS: Record<Language, [pattern: RegExp, kind: LockKind][]> = {
  python: [
    [/^uv\.lock$/, 'uv'],
    [/^poetry\.lock$/, 'poetry'],
    [/^requirements\.txt$/, 'requirements'],
    [/^requirements\b.*\.(txt|lock)$/, 'requirements'],
    [/^Pipfile\.lock$/, 'pipfile'],
    [/^pyproject\.toml$/, 'pyproject'],
    [/^Pipfile$/, 'pipfile'],
    // uv reads it like a pyproject.toml.
    [/^setup\.py$/, 'pyproject'],
  ],
  node: [
    [/^pnpm-lock\.yaml$/, 'pnpm'],
    [/^(package-lock|npm-shrinkwrap)\.json$/, 'npm'],
    [/^yarn\.lock$/, 'yarn'],
    // A workspace without a lock.
    [/^pnpm-workspace\.yaml$/, 'pnpm'],
    [/^package\.json$/, 'package'],
  ],
};

/** Commands that belong to one language, whatever else lies in the folder. */
const OF_PYTHON =
  /^(python[\d.]*t?|uv|uvx|poetry|pipenv|pdm|uvicorn|gunicorn|hypercorn|granian|daphne|fastapi|flask|litestar|sanic|waitress-serve|uwsgi|django-admin)$/;
const OF_NODE = /^(node|npm|npx|pnpm|yarn|tsx|ts-node|bun|deno|next|nest|fastify)$/;

/** Returns the language that a program belongs to; undefined if it may belong to any. */
export function languageOfProgram(program: string): Language | undefined {
  const name = basename(program);
  return OF_PYTHON.test(name) ? 'python' : OF_NODE.test(name) ? 'node' : undefined;
}

/** The facts about a project that are given before its files are read. */
interface NamedLock {
  named?: string | undefined;
  known?: RuntimeKind;
  /** The place where the lock is named, for errors. */
  where?: string;
}

/**
 * Returns the project in a folder: its language, by the command and the files unless it is `known`, and its lock. `named`
 * is a lock that the user names, relative to the folder. Throws a usage error if the language or the lock is ambiguous.
 */
export function findProject(
  folder: string,
  [command = '']: readonly string[],
  { named, known, where = '--lock' }: NamedLock = {},
): Project {
  const root = resolve(folder);
  const kind = known ?? runtimeOf(root, command);
  if (kind === 'none' && named !== undefined)
    throw new UsageError(
      `${where} ${named}: ${command} runs on neither Python nor Node, so Bench makes no environment for it`,
      'omit it',
    );
  if (kind === 'none') return { kind };
  const lock = named === undefined ? findLock(root, kind) : readNamed(root, kind, named, where);
  return { kind, ...present({ lock, version: findPinned(root, kind)?.version }) };
}

/** Returns what a program runs on, by its name or the files of its folder. Throws a usage error if they are ambiguous. */
export function runtimeOf(root: string, command: string): RuntimeKind {
  const language = languageOfProgram(command);
  if (language !== undefined) return language;
  // A program of the project itself is a binary or a script that says by its first line what it runs on.
  if (command.includes('/')) return 'none';
  const isPython = lockIn(root, 'python') !== undefined;
  const isNode = existsSync(join(root, 'package.json'));
  if (isPython && isNode)
    throw new UsageError(
      `${command}: ${root} is a project in both Python and Node, and the command does not say which`,
      'begin the command with python -m, or with npx; in stack.json, write "runtime"',
    );
  return isPython ? 'python' : isNode ? 'node' : 'none';
}

/** Finds the lock in the folder, or the nearest one above that lists the folder as a member of its workspace. */
export function findLock(root: string, kind: Language): Lock | undefined {
  const own = lockIn(root, kind);
  if (own?.kind !== 'pyproject' && own?.kind !== 'package') return own;
  const isWhole = (lock: Lock): boolean => lock.kind === 'uv' || kind === 'node';
  const above = parentsOf(dirname(root)).flatMap((folder) => locksIn(folder, kind).find(isWhole) ?? []);
  const found = above.find((lock) => isMember(root, lock)) ?? own;
  const isOfPnpm = found?.kind === 'package' && readNodeManifest(dirname(found.file)).isOfPnpm;
  return isOfPnpm ? { ...found, kind: 'pnpm' } : found;
}

/** The text by which a lock lists a member of its workspace. Of other locks, package.json names the folders. */
const MEMBERS: Partial<Record<LockKind, (member: string) => RegExp>> = {
  uv: (member) => new RegExp(`\\b(virtual|editable|directory) = "${member}"`),
  pnpm: (member) => new RegExp(`^ {2}(['"]?)${member}\\1:`, 'm'),
};

function isMember(root: string, { kind, file }: Lock): boolean {
  const folder = dirname(file);
  const member = relative(folder, root).split(sep).join('/');
  if (basename(file) === PNPM_WORKSPACE) return readPnpmMembers(folder).includes(member);
  const pattern = MEMBERS[kind]?.(member.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  if (pattern !== undefined) return pattern.test(readTextFile(file) ?? '');
  return globSync(readNodeManifest(folder).workspaces ?? [], { cwd: folder }).includes(member);
}

/** Returns the locks in a folder, best first. */
function locksIn(folder: string, language: Language): Lock[] {
  const names = readNames(folder).toSorted();
  return LOCKS[language].flatMap(([pattern, kind]) =>
    names.filter((name) => pattern.test(name)).map((name) => ({ kind, file: join(folder, name) })),
  );
}

/** Returns the lock in a folder. Throws a usage error if several lists of requirements are as good. */
function lockIn(folder: string, language: Language): Lock | undefined {
  const [best, ...others] = locksIn(folder, language);
  const lists = [best, ...others].flatMap((one) => (one?.kind === 'requirements' ? basename(one.file) : []));
  const [first = '', second] = lists;
  if (best?.kind !== 'requirements' || first === 'requirements.txt' || second === undefined) return best;
  throw new UsageError(
    `${showPath(folder)} has several lists of requirements: ${lists.join(', ')}`,
    `name one of them: "lock": "${first}" in stack.json, or init --lock ${first}`,
  );
}

function readNamed(root: string, language: Language, named: string, where: string): Lock {
  const file = resolve(root, named);
  const [, known] = LOCKS[language].find(([pattern]) => pattern.test(basename(file))) ?? [];
  // Lists of requirements have any name.
  const kind = known ?? (language === 'python' && file.endsWith('.txt') ? 'requirements' : undefined);
  const isHere = isFile(file);
  if (isHere && kind !== undefined) return { kind, file };
  const [title, example] = { python: ['Python', 'uv.lock'], node: ['Node', 'package-lock.json'] }[language];
  throw new UsageError(
    `${where} ${named}: ${isHere ? `not a lock of ${title}` : 'does not exist'}`,
    `name a lock, a list of requirements or a manifest, e.g. ${example}`,
  );
}

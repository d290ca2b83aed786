/** What the words of a command line name: revisions, folders, addresses and targets. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { present, type BenchOptions } from 'bench-model/options';
import { BenchError, UsageError } from 'bench-model/errors';
import type { Copy } from 'bench-model/target';
import { isFolder } from 'bench-machine/files';
import { commandLine, HOME } from 'bench-machine/home';
import { redactUrl } from 'bench-machine/redact';
import { readApp } from 'bench-targets/catalogue/projects/app';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { ADDRESS, readAddress, type Address } from './values.ts';

/** The words, by what they name. */
export interface Things {
  /** `stack[/variant][@runtime]`, globs allowed. */
  targets: string[];
  /** Commits and branches of the project; `.` is its working tree. */
  revisions: string[];
  folders: string[];
  addresses: Address[];
}

/** The project in the current folder, or its working tree. */
const HERE = '.';

type Kind = 'address' | 'folder' | 'target' | 'revision';

/** Kinds that a run does not hold beside another kind. */
const APART = { address: ['target', 'folder', 'revision'], folder: ['revision'] } as const;

/** Sorts words by what they name. A word that names nothing else is a revision. Throws a usage error for an unknown folder. */
export function sortThings(words: readonly string[], manifests: string[]): Things {
  // The manifests are read only if a word may be a target.
  let names: Set<string> | undefined;
  const isTarget = (word: string): boolean => {
    const [stack = ''] = word.split(/[/@]/);
    names ??= new Set(readStacks(manifests).map(({ name }) => name));
    return stack.includes('*') || names.has(stack);
  };
  const kindOf = (word: string): Kind => {
    if (ADDRESS.test(word)) return 'address';
    if (/^(\.{0,2}|~)\//.test(word)) return 'folder';
    if (isTarget(word)) return 'target';
    return isFolder(word) ? 'folder' : 'revision';
  };
  const kinds = new Map(words.filter((word) => word !== HERE).map((word) => [word, kindOf(word)]));
  // Beside a revision, it is the working tree.
  kinds.set(HERE, [...kinds.values()].includes('revision') ? 'revision' : 'folder');
  const named = (kind: Kind): string[] => words.filter((word) => kinds.get(word) === kind);
  for (const kind of ['address', 'folder'] as const) {
    const [one, other] = [named(kind).map(redactUrl)[0], APART[kind].flatMap(named)[0]];
    if (one === undefined || other === undefined) continue;
    const cure = `use two runs${kind === 'folder' ? orBranch(one) : ''}`;
    throw new UsageError(`${other} cannot be measured beside ${one}`, cure);
  }
  return {
    targets: named('target'),
    revisions: named('revision'),
    folders: named('folder').map(requireFolder),
    addresses: named('address').map(readAddress),
  };
}

/** Says how to name a branch that has the name of a folder. */
function orBranch(folder: string): string {
  return /^\w[\w.-]*$/.test(folder) ? `; if you mean a branch, write refs/heads/${folder}` : '';
}

function requireFolder(word: string): string {
  if (isFolder(word)) return word;
  throw new UsageError(`${word}: not a folder`, 'name the folder of a project, e.g. ../my-api');
}

/** Throws a usage error for a word that is a target or a folder and, in the project, a revision too. */
export async function refuseAmbiguous(asked: Pick<BenchOptions, 'targets' | 'copies'>): Promise<void> {
  const { targets, copies = [] } = asked;
  const folders = copies.flatMap(({ kind, name }) => (kind === 'folder' ? [name] : []));
  const named = [...targets, ...folders].filter((word) => /^\w[\w.-]*$/.test(word));
  // Loaded here: most command lines are only read.
  const { findCommit } = await import('bench-targets/prepare/copies/revisions');
  for (const word of named) {
    if ((await findCommit(HOME.root, word)) === undefined) continue;
    const [kind, other] = folders.includes(word) ? ['folder', `./${word}`] : ['target', `${word}/<variant>`];
    const cure = `write refs/heads/${word}, or ${other}`;
    throw new UsageError(`"${word}" is a revision, and a ${kind} too`, cure);
  }
}

interface Starts {
  stack: string[];
  run: string[];
  env: readonly [name: string, values: string[]] | undefined;
}

/**
 * Returns the parts of the user's project that are measured: a manifest or an app, in several folders or settings if there
 * are some. Throws a usage error for things that cannot be measured in one run.
 */
export function nameProject(
  { revisions, folders }: Things,
  { stack, run, env }: Starts,
): Pick<BenchOptions, 'stacks' | 'apps' | 'copies'> {
  const hasSettings = run.length > 1 || env !== undefined;
  if (hasSettings && (folders.length > 1 || revisions.length > 0)) {
    throw new UsageError(
      'a run compares versions or settings, not both',
      'name one version, or omit --env and the second --run',
    );
  }
  if (folders.length > 1) return { stacks: stack, ...ofFolders(folders, stack, run[0]) };
  const [folder] = folders;
  const own = manifestOf(folder ?? HERE);
  const first = hasSettings && own !== undefined ? undefined : run[0];
  if (folder !== undefined && first === undefined && own === undefined) throw lackOfCommand(folder);
  const isOwn = folder !== undefined && first === undefined && stack.length === 0;
  return {
    stacks: isOwn && own !== undefined ? [own] : stack,
    apps: first === undefined ? undefined : [{ folder: folder ?? HERE, run: first }],
    copies: hasSettings ? settingsOf(folder ?? HERE, run, env) : undefined,
  };
}

/** Several folders are copies of one project, or projects with manifests of different names. */
function ofFolders(
  folders: readonly string[],
  stack: readonly string[],
  run: string | undefined,
): Partial<Pick<BenchOptions, 'stacks' | 'apps' | 'copies'>> {
  const [first = HERE] = folders;
  const copies = folders.map((name): Copy => ({ kind: 'folder', name }));
  const bases = new Set(folders.map((folder) => basename(resolve(folder))));
  if (run !== undefined)
    return {
      apps: [{ folder: first, run, ...present({ name: bases.size > 1 ? 'app' : undefined }) }],
      copies,
    };
  const manifests = folders.map((folder) => manifestOf(folder)).filter((file) => file !== undefined);
  const names = new Set(manifests.map((file) => readManifest(file).name));
  if (names.size > 1 && manifests.length === folders.length) return { stacks: manifests };
  if (stack.length > 0 || manifestOf(HOME.root) !== undefined) return { copies };
  const [own] = manifests;
  if (own === undefined) throw lackOfCommand(first);
  return { stacks: [own], copies };
}

function manifestOf(folder: string): string | undefined {
  const file = join(folder, 'stack.json');
  return existsSync(file) ? file : undefined;
}

function lackOfCommand(folder: string): BenchError {
  return new UsageError(
    `${folder} has no stack.json, and --run is missing`,
    `${commandLine('init')} in that folder writes one; or add --run 'uvicorn app:app --port {port}'${orBranch(folder)}`,
  );
}

/** Returns the settings of one project that are compared: several commands, or several values of a variable. */
function settingsOf(folder: string, run: readonly string[], env: Starts['env']): Copy[] {
  const [name, values = []] = env ?? [];
  if (name !== undefined && run.length > 1) {
    throw new UsageError('several commands and --env cannot be combined', 'write NAME=value in each --run');
  }
  if (name !== undefined)
    return values.map((value) => ({ kind: 'setting', name: `${name}=${value}`, env: { [name]: value } }));
  const typed = run.map((line) => line.split(' '));
  return run.map((line, index): Copy => {
    const { command, env: own = {} } = readApp({ folder, run: line });
    const different = typed[index]?.filter((word) => !typed.every((one) => one.includes(word))) ?? [];
    return { kind: 'setting', name: different.join(' ') || 'as first', command, env: own };
  });
}

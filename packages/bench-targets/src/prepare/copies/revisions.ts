/** Revisions of a user's project: found in its repository, and laid out as folders in the cache. */
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { labelOf } from '../../catalogue/copy-label.ts';
import { locateBuiltIn, readStacks } from '../../catalogue/stacks.ts';
import { BenchError, UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { git, tryGit } from 'bench-machine/git';
import { SubprocessError } from 'bench-machine/subprocess';
import type { Copy } from 'bench-model/target';
import { suggest } from 'bench-model/suggest';
import { digestOf } from '../digest.ts';
import { holdsSettings } from '../projects/tree.ts';
import { isFile, isFolder } from 'bench-machine/files';
import { lastLine } from '../failures.ts';

/** The revision that means the files as they are. */
const WORKING_TREE = '.';

/** Returns the top folder of the repository of a folder. Throws a usage error if it is in none: `names` may be no revisions. */
export async function findRepository(folder: string, names: readonly string[] = []): Promise<string> {
  const top = await tryGit(folder, ['rev-parse', '--show-toplevel']);
  if (top !== undefined && top.trim() !== '') return top.trimEnd();
  throw new UsageError(
    `${folder} is not in a git repository, so it has no revisions`,
    names.map(locateBuiltIn).find((hint) => hint !== undefined) ?? 'compare two folders instead: ./old ./new',
  );
}

/**
 * Finds revisions by their names; `.` is the working tree. Throws a usage error for an unknown name, for a commit with
 * submodules, and for two names of the same commit; with `mayRepeat`, the first of these is returned.
 */
export async function findRevisions(
  folder: string,
  names: readonly string[],
  { mayRepeat = false } = {},
): Promise<Copy[]> {
  const top = await findRepository(folder, names);
  const copies: Copy[] = [];
  for (const name of names) {
    const copy = await findRevision(top, name);
    await refuseSubmodules(top, copy);
    const same = await findSame(top, copy, copies);
    if (same === undefined) copies.push(copy);
    else if (!mayRepeat) throw refuseSame(copy, same);
  }
  return copies;
}

/** Documents, by their names: no server is made of them. */
const DOCUMENT = /\.(md|mdx|rst|adoc)$|(^|\/)(LICENSE|NOTICE|AUTHORS|CODEOWNERS|\.gitignore)$/i;

/** Lists the files in which two revisions differ if all of them are documents; otherwise none. */
export async function listDocuments(folder: string, [one, other]: readonly [Copy, Copy]): Promise<string[]> {
  const top = await findRepository(folder);
  const trees = [one, other].flatMap(({ kind, commit }) => (kind === 'revision' ? (commit ?? []) : []));
  const names = await listNames(top, ['diff', '--name-only', '-z', ...trees, '--']);
  if (trees.length < 2)
    names.push(...(await listNames(top, ['ls-files', '-z', '--others', '--exclude-standard'])));
  return names.every((name) => DOCUMENT.test(name)) ? names : [];
}

/** Returns the names of files that git prints with `-z`. */
async function listNames(folder: string, args: readonly string[]): Promise<string[]> {
  return (await git(folder, args)).split('\0').filter((name) => name !== '');
}

async function findRevision(top: string, name: string): Promise<Copy> {
  const isTree = name === WORKING_TREE;
  const commit = await requireCommit(top, isTree ? 'HEAD' : name);
  const subject = (await git(top, ['show', '--no-patch', '--format=%s', commit])).trim() || undefined;
  return { kind: isTree ? 'working-tree' : 'revision', name, commit, ...present({ subject }) };
}

async function requireCommit(top: string, name: string): Promise<string> {
  const own = await findCommit(top, name);
  if (own !== undefined) return own;
  const kinds = ['heads', 'tags', 'remotes'].map((kind) => `refs/${kind}`);
  const listed = await git(top, [
    'for-each-ref',
    '--sort=-committerdate',
    '--format=%(refname:lstrip=2)',
    ...kinds,
  ]);
  // The HEAD of a remote is a second name of a branch.
  const names = listed.split('\n').filter((one) => one !== '' && !one.endsWith('/HEAD'));
  // A job of CI checks out one commit: the other branches are those of the remote.
  const remote = names.filter((one) => one.slice(one.indexOf('/') + 1) === name && one !== name);
  const [only] = remote;
  const found = only === undefined || remote.length > 1 ? undefined : await findCommit(top, only);
  if (found !== undefined) return found;
  const isShallow = (await tryGit(top, ['rev-parse', '--is-shallow-repository']))?.trim() === 'true';
  const message = `"${name}" is no revision, target, folder or address`;
  if (isShallow)
    throw new UsageError(
      `${message}. This clone is shallow, so it lacks most commits`,
      'fetch them: git fetch --unshallow, or fetch-depth: 0 in the checkout of a CI job',
    );
  if (/^[\w.-]+:\d+(\/|$)/.test(name)) throw new UsageError(message, `for an address, write http://${name}`);
  const several = name.split(/,|\.{2,3}/).filter((one) => one !== '');
  if (several.length > 1) throw new UsageError(message, `write them apart: ${several.join(' ')}`);
  const known = `this repository has ${names.slice(0, 4).join(', ')}; git log --all lists the commits`;
  const hint = names.length === 0 ? 'the repository has no commits yet' : known;
  const targets = readStacks().map((stack) => stack.name);
  const close = locateBuiltIn(name) ?? suggest(name, [...names, ...targets]);
  throw new UsageError(message, close ?? hint);
}

/** Returns the commit that a name means in the repository of a folder; undefined if there is none. */
export async function findCommit(folder: string, name: string): Promise<string | undefined> {
  const ask = ['rev-parse', '--verify', '--quiet', '--end-of-options'];
  return (await tryGit(folder, [...ask, `${name}^{commit}`]))?.trim();
}

async function refuseSubmodules(top: string, copy: Copy): Promise<void> {
  const listed = await git(top, ['ls-tree', '-r', '-z', '--full-tree', copy.commit ?? '']);
  const paths = [...listed.matchAll(/(?:^|\0)160000 [^\t]*\t([^\0]*)/g)].map(([, path = '']) => path);
  // The server of this checkout runs without those that are empty in it.
  const path = paths.find((one) => isFolder(join(top, one)) && readdirSync(join(top, one)).length > 0);
  if (path === undefined) return;
  throw new UsageError(
    `${copy.name}: ${path} is a submodule, and a commit does not hold the files of submodules`,
    'check both revisions out with their submodules, and compare the folders: ./old ./new',
  );
}

/** Returns an earlier copy with the same files: the same commit, or a working tree without changes. */
async function findSame(top: string, copy: Copy, others: readonly Copy[]): Promise<Copy | undefined> {
  const same = others.find(({ commit }) => commit === copy.commit);
  if (same === undefined || same.kind === copy.kind) return same;
  const changes = await git(top, ['status', '--porcelain', '--untracked-files=normal']);
  return changes.trim() === '' ? same : undefined;
}

function refuseSame(copy: Copy, same: Copy): BenchError {
  const pair = `${same.name} and ${copy.name}`;
  return new UsageError(
    same.kind === copy.kind
      ? `${pair} are the same commit, ${labelOf(copy)}`
      : `${pair} are the same: the working tree has no uncommitted changes`,
    'name two that differ, as in HEAD~1 HEAD; bench --noise measures one twice, to show the noise of this machine',
  );
}

/** The folder of the cache that holds the revisions of a repository. */
export function folderOf(cache: string, top: string): string {
  return join(cache, 'revisions', `${basename(top)}-${digestOf([], top)}`);
}

/**
 * Lays a revision out as a folder with a separate repository, which shares the objects of the original. Settings that
 * git ignores, such as `.env`, are links to those of the original, and databases that are files are copies. Returns the names
 * of both. Throws a usage error with the last line of git if that fails.
 */
export async function layOut(copy: Copy, top: string, folder: string): Promise<Beside> {
  const { commit = '' } = copy;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  try {
    await makeRepository(top, commit, folder);
    if (copy.kind === 'working-tree') await copyTree(top, folder);
    else await writeCommit(top, commit, folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    if (!(error instanceof SubprocessError)) throw error;
    const why = error.stderr.trim() === '' ? error.message : lastLine(error.stderr);
    throw new UsageError(`${copy.name} cannot be checked out: ${why}`);
  }
  return addBeside(top, folder);
}

/** Makes a repository that reads the objects of the original. Tools that derive a version from tags find them. */
async function makeRepository(top: string, commit: string, folder: string): Promise<void> {
  const [format = '', common = ''] = (
    await git(top, ['rev-parse', '--show-object-format', '--path-format=absolute', '--git-common-dir'])
  ).split('\n');
  await git(top, ['init', '--quiet', '--template=', `--object-format=${format}`, folder]);
  const own = join(folder, '.git');
  mkdirSync(join(own, 'objects', 'info'), { recursive: true });
  writeFileSync(join(own, 'objects', 'info', 'alternates'), `${join(common, 'objects')}\n`);
  if (existsSync(join(common, 'shallow'))) copyFileSync(join(common, 'shallow'), join(own, 'shallow'));
  await tryGit(folder, ['fetch', '--quiet', '--no-write-fetch-head', top, '+refs/tags/*:refs/tags/*']);
  await git(folder, ['update-ref', '--no-deref', 'HEAD', commit]);
  await git(folder, ['read-tree', commit]);
}

/** Writes the files of a commit. The filters of the original apply, e.g. for large files; its index does not change. */
async function writeCommit(top: string, commit: string, folder: string): Promise<void> {
  const index = join(folder, '.git', 'index-of-original');
  const original = (await git(top, ['rev-parse', '--absolute-git-dir'])).trimEnd();
  const options = [`--git-dir=${original}`, `--work-tree=${folder}`];
  await git(folder, [...options, 'read-tree', commit], { GIT_INDEX_FILE: index });
  await git(folder, [...options, 'checkout-index', '--all', '--force', '--quiet'], { GIT_INDEX_FILE: index });
  rmSync(index);
}

/** Copies the tracked files and the new ones that git does not ignore. */
async function copyTree(top: string, folder: string): Promise<void> {
  const listed = await listNames(top, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const name of new Set(listed)) {
    const [from, to] = [join(top, name), join(folder, name)];
    // A deleted file is still in the index, as is one whose folder is a link now; a nested repository is listed as a folder.
    const found = lookInside(top, name);
    if (!found?.isSymbolicLink() && !found?.isFile()) continue;
    mkdirSync(dirname(to), { recursive: true });
    if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (holdsSettings(basename(name))) symlinkSync(from, to);
    else copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}

/** What git may find of settings, and of databases that are files, as SQLite has them, with their logs. */
const BESIDE = ['*.env*', '*.npmrc', '*.yarnrc*', '*.pypirc', '*.netrc', '*.db', '*.db-wal', '*.sqlite*'];
const DATABASE = /\.(db|sqlite3?)(-wal)?$/;
type Beside = Record<'linked' | 'copied', string[]>;

/**
 * Links the settings of the original, and copies its databases: a server often fails without them. It may write to a database, but no
 * secret leaves its folder. Returns the names of both.
 */
async function addBeside(top: string, folder: string): Promise<Beside> {
  const added: Beside = { linked: [], copied: [] };
  for (const name of await listNames(top, ['ls-files', '-z', '--others', '--', ...BESIDE])) {
    const [from, to] = [join(top, name), join(folder, name)];
    // The folders of packages and builds are not in the copy. A commit may hold a link there, or on the way, that leads out.
    const isFree = lookInside(folder, dirname(name))?.isDirectory() && !lookInside(folder, name);
    if (!isFile(from) || isFree !== true) continue;
    if (holdsSettings(basename(name))) {
      symlinkSync(from, to);
      added.linked.push(name);
    } else if (DATABASE.test(name)) {
      copyFileSync(from, to, constants.COPYFILE_FICLONE);
      added.copied.push(name);
    }
  }
  return added;
}

/** Returns what is at a path inside a folder; undefined for nothing, and for what a link on the way leads to. */
function lookInside(folder: string, name: string): Stats | undefined {
  const parent = dirname(name);
  if (parent !== '.' && lookInside(folder, parent)?.isDirectory() !== true) return undefined;
  return lstatSync(join(folder, name), { throwIfNoEntry: false });
}

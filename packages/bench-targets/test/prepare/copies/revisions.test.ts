import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { labelOf } from '../../../src/catalogue/copy-label.ts';
import { BenchError } from 'bench-model/errors';
import { runSync } from 'bench-machine/subprocess';
import type { Copy } from 'bench-model/target';
import { findRevisions, layOut, listDocuments } from '../../../src/prepare/copies/revisions.ts';
import { git } from '../../../../bench-lab/testing/user.ts';

let folder: string;
let project: string;

function write(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

function commit(subject: string): string {
  git(project, 'add', '--all');
  git(project, 'commit', '--quiet', '--message', subject);
  return git(project, 'rev-parse', 'HEAD');
}

/** Every file of the project with its content, those of git included. */
function everyFile(): Map<string, string> {
  const found = globSync('**/*', { cwd: project, withFileTypes: true }).filter((entry) => entry.isFile());
  const hidden = globSync('.git/**/*', { cwd: project, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    [...found, ...hidden].map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file, readFileSync(file, 'latin1')];
    }),
  );
}

async function layOutAll(copies: Copy[]): Promise<string[]> {
  const folders = copies.map((_, index) => join(folder, 'cache', String(index)));
  for (const [index, copy] of copies.entries()) await layOut(copy, project, folders[index] ?? '');
  return folders;
}

function read(root: string | undefined, name: string): string {
  return readFileSync(join(root ?? '', name), 'utf8');
}

async function refusalOf(...names: string[]): Promise<BenchError> {
  const error = await findRevisions(project, names).catch((thrown: unknown) => thrown);
  if (error instanceof BenchError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-revisions-')));
  project = join(folder, 'shop');
  mkdirSync(project);
  git(project, 'init', '--quiet', '--initial-branch=main');
  write('.gitignore', '.env\nbuild/\n');
  write('src/server.js', 'one');
  write('old.js', 'old');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the revisions of a project', () => {
  it('are found by name, with hash and subject', async () => {
    const first = commit('Serve orders');
    git(project, 'switch', '--quiet', '--create', 'faster');
    write('src/server.js', 'two');
    const second = commit('Cache orders');
    const copies = await findRevisions(join(project, 'src'), ['main', 'HEAD']);
    expect(copies).toEqual([
      { kind: 'revision', name: 'main', commit: first, subject: 'Serve orders' },
      { kind: 'revision', name: 'HEAD', commit: second, subject: 'Cache orders' },
    ]);
    expect(copies.map(labelOf)).toEqual([`main ${first.slice(0, 7)}`, `HEAD ${second.slice(0, 7)}`]);
  });

  it('name their changed files if these are only documents', async () => {
    write('requirements.txt', 'fastapi==0.115.0');
    commit('Serve orders');
    write('guide/start.md', 'Start it.');
    const second = commit('Tell how to start');
    write('README.md', 'Read.');
    const [first, told, tree] = (await findRevisions(project, ['HEAD~1', second, '.'])) as [Copy, Copy, Copy];
    expect(await listDocuments(project, [first, told])).toEqual(['guide/start.md']);
    expect(await listDocuments(project, [told, tree])).toEqual(['README.md']);
    write('requirements.txt', 'fastapi==0.115.1');
    expect(await listDocuments(project, [told, tree])).toEqual([]);
  });

  it('are laid out without any change to the checkout, the index, the stash and the worktrees', async () => {
    commit('Serve orders');
    write('src/server.js', 'stashed');
    git(project, 'stash', 'push', '--quiet');
    git(project, 'switch', '--quiet', '--create', 'faster');
    write('src/server.js', 'two');
    rmSync(join(project, 'old.js'));
    commit('Cache orders');
    write('src/server.js', 'staged');
    git(project, 'add', 'src/server.js');
    write('src/server.js', 'three');
    write('src/new.js', 'new');
    write('build/output.js', 'built');
    write('.env', 'TOKEN=x');
    const before = everyFile();

    const copies = await findRevisions(project, ['main', 'HEAD', '.']);
    const [main, head, tree] = await layOutAll(copies);

    expect([main, head, tree].map((root) => read(root, 'src/server.js'))).toEqual(['one', 'two', 'three']);
    expect(globSync('**/*.js', { cwd: main }).toSorted()).toEqual(['old.js', 'src/server.js']);
    expect(globSync('**/*.js', { cwd: head }).toSorted()).toEqual(['src/server.js']);
    expect(globSync('**/*.js', { cwd: tree }).toSorted()).toEqual(['src/new.js', 'src/server.js']);
    expect([main, tree].map((root) => realpathSync(join(root ?? '', '.env')))).toEqual([
      join(project, '.env'),
      join(project, '.env'),
    ]);
    expect(copies.map(labelOf)[2]).toBe(`working tree of ${git(project, 'rev-parse', 'HEAD').slice(0, 7)}`);
    expect(everyFile()).toEqual(before);
  });

  it('have copies of the databases that git ignores, but not of those of packages', async () => {
    write('.gitignore', '*.db\n*.db-wal\nnode_modules/\nbuild/\n');
    commit('Serve orders');
    for (const name of ['src/dev.db', 'src/dev.db-wal', 'node_modules/a/a.db', 'build/out.db'])
      write(name, name);
    const [main] = await findRevisions(project, ['main']);
    const root = join(folder, 'cache');
    const { copied } = await layOut(main!, project, root);
    expect(copied).toEqual(['src/dev.db', 'src/dev.db-wal']);
    writeFileSync(join(root, 'src/dev.db'), 'changed');
    expect(read(project, 'src/dev.db')).toBe('src/dev.db');
  });

  it('never write where a link leads', async () => {
    const outside = join(folder, 'outside');
    const there = (): string[] => readdirSync(outside);
    mkdirSync(outside);
    write('.gitignore', '*.db\n.env\n');
    for (const name of ['data', 'deep']) symlinkSync(outside, join(project, name));
    symlinkSync(join(outside, 'one.db'), join(project, 'one.db'));
    symlinkSync(join(outside, '.env'), join(project, '.env'));
    git(project, 'add', '--force', '.env', 'one.db');
    commit('Link the data');
    for (const name of ['data', 'deep', 'one.db', '.env']) rmSync(join(project, name));
    git(project, 'rm', '--quiet', '--cached', 'one.db', '.env');
    for (const name of ['deep/kept.js', 'data/kept.js']) write(name, '');
    commit('Have folders');
    for (const name of ['data/a.db', 'deep/er/b.db', 'one.db', '.env', 'data/.env']) write(name, 'mine');
    // In the working tree, a folder of the index is a link now, and a file of it is a pipe.
    rmSync(join(project, 'deep'), { recursive: true });
    symlinkSync(outside, join(project, 'deep'));
    writeFileSync(join(outside, 'kept.js'), 'of another');
    rmSync(join(project, 'old.js'));
    runSync(['mkfifo', join(project, 'old.js')]);
    const [old, tree] = await layOutAll(await findRevisions(project, ['HEAD~1', '.']));
    expect(there()).toEqual(['kept.js']);
    expect(read(outside, 'kept.js')).toBe('of another');
    expect(readdirSync(old!).toSorted()).toContain('data');
    expect(read(tree, 'data/a.db')).toBe('mine');
  });

  it('keep the tags, from which tools derive a version', async () => {
    commit('Serve orders');
    git(project, 'tag', 'v1.2');
    const [root = ''] = await layOutAll(await findRevisions(project, ['main']));
    const described = runSync(['git', 'describe', '--tags', '--dirty'], { cwd: root }).stdout;
    expect(described.trim()).toBe('v1.2');
  });

  it('are found in the remote, as a CI job needs', async () => {
    const main = commit('Serve orders');
    git(project, 'update-ref', 'refs/remotes/origin/release', main);
    expect(await findRevisions(project, ['release'])).toMatchObject([{ name: 'release', commit: main }]);
  });
});

describe('a revision that cannot be measured', () => {
  it('has an unknown name, and the nearest one is suggested', async () => {
    commit('Serve orders');
    git(project, 'branch', 'feature/cache');
    const { code, message, hint } = await refusalOf('feature/cash');
    expect({ code, message, hint }).toEqual({
      code: 'usage',
      message: '"feature/cash" is no revision, target, folder or address',
      hint: 'did you mean feature/cache?',
    });
    git(project, 'update-ref', 'refs/remotes/origin/HEAD', 'HEAD');
    expect((await refusalOf('trunk')).hint).toMatch(
      /^this repository has (feature\/cache, main|main, feature\/cache);/,
    );
    for (const both of ['main,HEAD', 'main..HEAD', 'main...HEAD'])
      expect((await refusalOf(both)).hint).toBe('write them apart: main HEAD');
    expect((await refusalOf('h:80/a')).hint).toBe('for an address, write http://h:80/a');
    expect((await refusalOf('fastapi@3.14')).hint).toContain('fastapi is a built-in stack');
  });

  it('is missing from a shallow clone', async () => {
    commit('Serve orders');
    write('src/server.js', 'two');
    commit('Cache orders');
    const origin = project;
    project = join(folder, 'clone');
    runSync(['git', 'clone', '--quiet', '--depth=1', `file://${origin}`, project]);
    expect((await refusalOf('HEAD~1')).message).toContain('This clone is shallow');
    const [root] = await layOutAll(await findRevisions(project, ['HEAD']));
    expect(read(root, 'src/server.js')).toBe('two');
  });

  it('is outside a repository', async () => {
    const error = await findRevisions(folder, ['main']).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'usage',
      message: `${folder} is not in a git repository, so it has no revisions`,
      hint: 'compare two folders instead: ./old ./new',
    });
  });

  it('has a submodule with files', async () => {
    const first = commit('Serve orders');
    git(project, 'update-index', '--add', '--cacheinfo', `160000,${first},vendor/money`);
    git(project, 'commit', '--quiet', '--message', 'Add money');
    mkdirSync(join(project, 'vendor/money'), { recursive: true });
    // The server of this checkout runs without it.
    expect(await findRevisions(project, ['main'])).toMatchObject([{ name: 'main' }]);
    write('vendor/money/euro.js', 'one');
    expect((await refusalOf('main')).message).toContain('vendor/money is a submodule');
  });

  it('is the same commit twice, or a working tree without changes', async () => {
    commit('Serve orders');
    expect((await refusalOf('main', 'HEAD')).message).toContain('main and HEAD are the same commit');
    expect((await refusalOf('HEAD', '.')).message).toContain('the working tree has no uncommitted changes');
    expect(await findRevisions(project, ['main', 'HEAD', '.'], { mayRepeat: true })).toMatchObject([
      { name: 'main' },
    ]);
  });
});

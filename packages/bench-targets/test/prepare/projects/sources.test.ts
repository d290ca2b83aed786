import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filesOfLocalPackages, sourcesOf } from '../../../src/prepare/projects/sources.ts';
import { copyProject, digestOfFiles, filesOfProject } from '../../../src/prepare/projects/tree.ts';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'bench-sources-'));
});
afterEach(() => rmSync(place, { recursive: true }));

/** The files outside of `api` that a project there is made from. */
function find(files: Record<string, string>, named: string[] = []): string[] {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  const found = filesOfLocalPackages(
    join(place, 'api'),
    named.map((name) => join(place, name)),
  );
  return found.map((file) => relative(place, file)).toSorted();
}

function write(name: string, text: string): void {
  writeFileSync(join(place, name), text);
}

function digest(): string {
  return digestOfFiles(place, filesOfProject(place));
}

describe('the digest of a project', () => {
  it('changes with a hidden file, with the names of settings, and with nothing that tools make', () => {
    write('server.js', 'one');
    write('.babelrc', '{}');
    const first = digest();
    write('.babelrc', '{"presets": []}');
    const second = digest();
    expect(second).not.toBe(first);
    write('.env', 'TOKEN=a');
    const third = digest();
    expect(third).not.toBe(second);
    // What settings hold is no part of it: a copy reads those of the project.
    write('.env', 'TOKEN=b');
    mkdirSync(join(place, '.venv'));
    write('.venv/made', '');
    expect(digest()).toBe(third);
  });

  it('is that of a copy, whose settings are links', () => {
    const [original, copy] = [join(place, 'original'), join(place, 'copy')];
    for (const folder of [original, copy]) mkdirSync(folder);
    writeFileSync(join(original, '.env'), 'TOKEN=a');
    symlinkSync(join(original, '.env'), join(copy, '.env'));
    expect(digestOfFiles(copy, filesOfProject(copy))).toBe(digestOfFiles(original, filesOfProject(original)));
  });
});

describe('the packages outside a project that it is made from', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['go.mod', { 'api/go.mod': 'module api\nreplace example.com/lib => ../lib\n', 'lib/go.mod': '' }, []],
    ['go.work', { 'go.work': 'use (\n\t./api\n\t./lib\n)\n', 'api/go.mod': '', 'lib/go.mod': '' }, []],
    ['Cargo.toml', { 'api/Cargo.toml': 'lib = { path = "../lib" }', 'lib/Cargo.toml': '' }, []],
    [
      'the Cargo.toml of a workspace',
      {
        'Cargo.toml': '[workspace.dependencies]\nlib = { path = "lib" }',
        'api/Cargo.toml': 'lib = { workspace = true }',
        'lib/Cargo.toml': '',
      },
      [],
    ],
    ['uv.lock', { 'uv.lock': 'source = { editable = "lib" }', 'lib/pyproject.toml': '' }, ['uv.lock']],
    [
      'the pyproject.toml of a workspace',
      {
        'pyproject.toml': '[tool.uv.workspace]\nmembers = ["api", "libs/*"]',
        'libs/x/pyproject.toml': '',
      },
      [],
    ],
    ['requirements', { 'api/requirements.txt': '-e ../lib', 'lib/setup.py': '' }, ['api/requirements.txt']],
    [
      'a URL in requirements',
      { 'api/requirements.txt': 'lib @ file:../lib', 'lib/setup.py': '' },
      ['api/requirements.txt'],
    ],
  ])('are named by %s', (_, files, named) => {
    const manifest = Object.keys(files).findLast((name) => name.startsWith('lib')) ?? '';
    const code = join(dirname(manifest), 'code');
    expect(find({ ...files, [code]: '' }, named)).toEqual([code, manifest].toSorted());
  });

  it('are all packages of a Node workspace, which is installed as a whole', () => {
    find({ 'package-lock.json': '', 'api/package.json': '', 'lib/index.js': '' });
    const root = join(place, 'api');
    const lock = { kind: 'npm', file: join(place, 'package-lock.json') } as const;
    const found = sourcesOf({ root, project: { kind: 'node', lock } });
    expect(found.map((file) => relative(place, file)).toSorted()).toEqual([
      'api/package.json',
      'lib/index.js',
      'package-lock.json',
    ]);
    expect(sourcesOf({ root })).toEqual([join(root, 'package.json')]);
  });

  it('name others in turn, also archives', () => {
    const files = {
      'api/pyproject.toml': 'one = { path = "../one" }',
      'one/pyproject.toml': 'two = { path = "../two-1.0.whl" }\nself = "."',
      'two-1.0.whl': '',
      'other/pyproject.toml': '',
    };
    expect(find(files)).toEqual(['one/pyproject.toml', 'two-1.0.whl']);
  });

  it('leave out its own folders and what is no package', () => {
    const files = {
      'api/pyproject.toml': 'a = "../docs"\nb = "./inner"',
      'docs/a': '',
      'api/inner/setup.py': '',
    };
    expect(find(files)).toEqual([]);
  });
});

describe('the files of a project', () => {
  it('include those of a folder that is called like a property of objects', () => {
    const files = ['api/constructor/code', 'api/toString/code'];
    find(Object.fromEntries(files.map((name) => [name, ''])));
    const found = sourcesOf({ root: join(place, 'api') });
    expect(found.map((file) => relative(place, file)).toSorted()).toEqual(files);
  });
});

it.each([
  ['gin', 'gocontract/go.mod'],
  ['actix', 'rustcontract/Cargo.lock'],
])('the sources of a compiled stack include those that it shares: %s', (stack, shared) => {
  const packages = join(import.meta.dirname, '../../../../');
  const sources = sourcesOf({ root: join(packages, stack) }).map((file) => relative(packages, file));
  expect(sources).toContain(`${stack}/stack.json`);
  expect(sources).toContain(shared);
});

it('copies no project into itself', () => {
  write('server.js', '');
  expect(errorOf(() => copyProject(place, join(place, '.cache', 'copy')))).toMatchObject({
    code: 'usage',
    hint: 'name a folder outside of the project in BENCH_CACHE',
  });
  expect(existsSync(join(place, '.cache'))).toBe(false);
});

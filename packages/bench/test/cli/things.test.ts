import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nameProject, sortThings } from '../../src/cli/things.ts';
import BENCH from '../../src/commands/bench.ts';
import COMPARE from '../../src/commands/compare.ts';
import UPGRADE from '../../src/commands/upgrade.ts';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { choose } from '../../src/plan/plan.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';
import { environmentOfUser, git, runCommand } from '../../../bench-lab/testing/user.ts';

const MANIFEST = {
  name: 'shop',
  language: 'javascript',
  framework: 'unknown',
  runtime: 'node',
  default: 'app',
  variants: { app: { command: ['node', 'server.cjs'], env: { MODE: 'plain' } } },
  requests: ['GET /'],
};

let folder: string;
let shop: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-things-')));
  shop = makeShop('shop');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function makeShop(name: string, manifest: object = MANIFEST): string {
  const made = join(folder, name);
  mkdirSync(made);
  writeFileSync(join(made, 'stack.json'), JSON.stringify(manifest));
  writeFileSync(join(made, 'server.cjs'), '');
  return made;
}

const NONE = { stack: [], run: [], env: undefined };

describe('the words of a command line', () => {
  it('are sorted by what they name', () => {
    expect(sortThings(['main', 'HEAD~1', 'fastify', 'fastapi/*', '*/*', 'fastapi@3.14'], [])).toEqual({
      targets: ['fastify', 'fastapi/*', '*/*', 'fastapi@3.14'],
      revisions: ['main', 'HEAD~1'],
      folders: [],
      addresses: [],
    });
    expect(sortThings([shop, 'docs'], []).folders).toEqual([shop, 'docs']);
    expect(sortThings(['old=http://h:1', 'HTTPS://h:2'], []).addresses).toEqual([
      { name: 'old', url: new URL('http://h:1'), headers: {} },
      { url: new URL('https://h:2'), headers: {} },
    ]);
  });

  it('mean the working tree by a point beside a revision, in the order that was typed, and the project otherwise', () => {
    expect(sortThings(['.', 'main'], []).revisions).toEqual(['.', 'main']);
    expect(sortThings(['.'], []).folders).toEqual(['.']);
  });

  it('are one revision, which compare compares with the working tree', () => {
    expect(COMPARE.parse(['main'])).toMatchObject({
      revisions: ['main', '.'],
      sequentialTest: { by: 'cpu' },
    });
    expect(COMPARE.parse(['main', 'HEAD'])).toMatchObject({ revisions: ['main', 'HEAD'] });
    expect(BENCH.parse(['main'])).toMatchObject({ revisions: ['main'] });
  });

  it.each([BENCH, COMPARE, UPGRADE])(
    'exclude options that start a server, if one is an address: $name',
    (command) => {
      const { message } = errorOf(() => command.parse(['http://127.0.0.1:1', '--with', 'a==1']));
      expect(message).toBe('--with and http://127.0.0.1:1 cannot be combined');
    },
  );

  it('are asked about if one of them is a revision and a target', () => {
    const project = makeShop('project');
    git(project, 'init', '--quiet', '--initial-branch=shop');
    git(project, 'add', '.');
    git(project, 'commit', '--quiet', '--message', 'Sell');
    const { stderr } = runCommand(['compare', 'shop', 'HEAD'], project, environmentOfUser(folder));
    expect(stderr).toContain(
      'error: "shop" is a revision, and a target too\n       write refs/heads/shop, or shop/<variant>',
    );
  });
});

it('a folder may have the name of a branch', () => {
  expect(errorOf(() => sortThings(['docs', 'HEAD'], []))).toMatchObject({
    message: 'HEAD cannot be measured beside docs',
    hint: 'use two runs; if you mean a branch, write refs/heads/docs',
  });
  const lonely = errorOf(() => nameProject(sortThings(['docs'], []), NONE));
  expect(lonely.hint).toContain('; if you mean a branch, write refs/heads/docs');
});

describe('folders', () => {
  it('are the project itself, copies of one, or several projects', () => {
    expect(nameProject(sortThings([shop], []), NONE)).toEqual({ stacks: [join(shop, 'stack.json')] });
    const copy = makeShop('copy');
    expect(nameProject(sortThings([shop, copy], []), NONE)).toEqual({
      stacks: [join(shop, 'stack.json')],
      copies: [shop, copy].map((name) => ({ kind: 'folder', name })),
    });
    const other = makeShop('other', { ...MANIFEST, name: 'other' });
    const manifests = [shop, other].map((one) => join(one, 'stack.json'));
    expect(nameProject(sortThings([shop, other], []), NONE)).toEqual({ stacks: manifests });
  });

  it('are started by a command that replaces their manifest', () => {
    const started = nameProject(sortThings([shop], []), { ...NONE, run: ['node b.cjs'] });
    expect(started).toEqual({ stacks: [], apps: [{ folder: shop, run: 'node b.cjs' }] });
  });
});

it('a project with requests refuses a workload, which would have no effect', () => {
  const request = BENCH.parse([shop, '--workload', 'fib']);
  expect(() => choose(request, readStacks(request.stacks))).toThrow('--workload has no effect: ');
});

describe('settings of a service', () => {
  it('are several commands, named by the words in which they differ', () => {
    const run = ['node server.cjs --port {port}', 'A=1 node --jitless server.cjs --port {port}'];
    const { copies } = nameProject(sortThings([shop], []), { ...NONE, run });
    expect(copies).toMatchObject([
      { kind: 'setting', name: 'as first', command: ['node', 'server.cjs', '--port', '{port}'], env: {} },
      {
        name: 'A=1 --jitless',
        command: ['node', '--jitless', 'server.cjs', '--port', '{port}'],
        env: { A: '1' },
      },
    ]);
  });

  it('are values of a variable', () => {
    const { copies } = nameProject(sortThings([], []), { ...NONE, env: ['A', ['1', '2']] });
    expect(copies?.map(({ name, env }) => [name, env])).toEqual([
      ['A=1', { A: '1' }],
      ['A=2', { A: '2' }],
    ]);
  });

  it('are not mixed with versions', () => {
    expect(errorOf(() => BENCH.parse(['main', '--env', 'A=1,2'])).message).toContain('versions or settings');
    const both = ['--env', 'A=1,2', '--run', 'a', '--run', 'b'];
    expect(errorOf(() => BENCH.parse(both)).message).toContain('cannot be combined');
  });
});

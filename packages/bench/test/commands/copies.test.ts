import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Trial } from 'bench-model/record';
import { environmentOfUser, git, type Ended } from '../../../bench-lab/testing/user.ts';
import { runIn } from '../cli/cli.ts';

const SHORT = ['--rounds', '1', '--connections', '2', '--amount', '40', '--warmup', '0', '--no-interleave'];
const SERVER = `
const { version } = require('./version.cjs');
console.log('serving ' + version);
require('node:fs').writeFileSync('../orders.db', version);
require('node:http').createServer((request, response) => response.end('ok')).listen(process.env.PORT, process.env.HOST);
`;

const MANIFEST = {
  name: 'shop',
  language: 'javascript',
  framework: 'unknown',
  class: 'unknown',
  runtime: 'node',
  default: 'app',
  variants: { app: { command: ['node', 'server.cjs'] } },
  requests: ['GET /orders'],
};

let folder: string;
let shop: string;

function writeVersion(root: string, version: string): void {
  writeFileSync(join(root, 'version.cjs'), `exports.version = '${version}';`);
}

/** Runs `bench-http` in the user's folder. */
function bench(cwd: string, args: string[]): Promise<Ended> {
  return runIn(cwd, ['bench', ...args], () => environmentOfUser(folder));
}

/** Returns the version that each target of the newest run served, by the name of its copy. */
function versionsServed(project: string, trials: Trial[]): Record<string, string | undefined> {
  const logs = globSync('.bench/results/*/logs/*.log', { cwd: project });
  return Object.fromEntries(
    trials.map(({ id, target }) => {
      const log = logs.find((file) => file.includes(id)) ?? '';
      return [target.copy?.name ?? '', /serving (\S+)/.exec(readFileSync(join(project, log), 'utf8'))?.[1]];
    }),
  );
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-copies-')));
  shop = join(folder, 'shop');
  mkdirSync(shop);
  writeFileSync(join(shop, 'server.cjs'), SERVER);
  writeVersion(shop, 'first');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the settings of a project', () => {
  it('are two commands, with their own values of a variable, in the folder of the project', async () => {
    writeFileSync(join(shop, 'version.cjs'), 'exports.version = process.env.MODE + process.argv.length;');
    const commands = ['MODE=c node server.cjs', 'MODE=d node server.cjs more'];
    const words = commands.flatMap((command) => ['--run', command]);
    const { stdout } = await bench(shop, [...words, '--get', '/', ...SHORT, '--json']);
    const { trials } = JSON.parse(stdout) as { trials: Trial[] };
    expect(versionsServed(shop, trials)).toEqual({ 'MODE=c': 'c2', 'MODE=d more': 'd3' });
  });
});

describe('the copies of a project', () => {
  it('can be two commits and the working tree, each served from its own files', async () => {
    git(shop, 'init', '--quiet', '--initial-branch=main');
    git(shop, 'add', '.');
    git(shop, 'commit', '--quiet', '--message', 'Serve orders');
    git(shop, 'switch', '--quiet', '--create', 'cache');
    writeVersion(shop, 'second');
    writeFileSync(join(shop, 'stack.json'), JSON.stringify(MANIFEST));
    git(shop, 'add', '.');
    git(shop, 'commit', '--quiet', '--message', 'Cache orders');
    writeVersion(shop, 'third');
    writeFileSync(join(shop, '.gitignore'), '.bench\n');
    const state = (): string[] =>
      ['status', 'worktree list', 'stash list'].map((words) => git(shop, ...words.split(' ')));
    const before = state();

    const { status, stdout, stderr } = await bench(shop, ['main', 'cache', '.', ...SHORT, '--json']);

    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/main \w{7} has no stack.json: the current one is used for it/),
    });
    const { trials } = JSON.parse(stdout) as { trials: Trial[] };
    expect(versionsServed(shop, trials)).toEqual({ main: 'first', cache: 'second', '.': 'third' });
    expect(trials.map(({ code }) => code?.files)).toEqual([2, 2, 2]);
    expect(new Set(trials.map(({ code }) => code?.sha256)).size).toBe(3);
    const [main, cache] = ['main', 'cache'].map((name) => git(shop, 'rev-parse', name));
    expect(trials.map(({ target }) => target).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      {
        id: `shop[cache ${cache?.slice(0, 7)}]`,
        copy: { kind: 'revision', commit: cache, subject: 'Cache orders' },
      },
      {
        id: `shop[main ${main?.slice(0, 7)}]`,
        copy: { kind: 'revision', commit: main, subject: 'Serve orders' },
      },
      { id: `shop[working tree of ${cache?.slice(0, 7)}]`, copy: { kind: 'working-tree', commit: cache } },
    ]);
    const report = await runIn(shop, ['report', 'latest'], () => environmentOfUser(folder));
    expect(report.stdout).toContain(`main ${main?.slice(0, 7)}: Serve orders`);
    expect(state()).toEqual(before);
    expect(globSync('cache/revisions/*/*', { cwd: folder })).toEqual([]);
  });

  it('are said to hold the same files, unless a setting in the repository differs', async () => {
    git(shop, 'init', '--quiet', '--initial-branch=main');
    const commit = (setting: string): void => {
      writeFileSync(join(shop, '.env.production'), setting);
      git(shop, 'add', '.');
      git(shop, 'commit', '--quiet', '--allow-empty', '--message', setting);
    };
    for (const setting of ['CACHE=off', 'CACHE=on', 'CACHE=on']) commit(setting);
    const revisions = ['HEAD~2', 'HEAD~1', 'HEAD'];
    const { stderr } = await bench(shop, ['--run', 'node server.cjs', '--get', '/', ...revisions, ...SHORT]);
    expect(stderr).toContain('HEAD~1 and HEAD hold the same files of shop');
    expect(stderr).not.toContain('HEAD~2 and');
  });

  it('are each set up in their own folder, with the services of their own manifests', async () => {
    const manifest = { ...MANIFEST, setup: { command: ['node', 'seed.cjs'] } };
    const write = (name: string, text: string): void => writeFileSync(join(shop, name), text);
    const seed = `require('node:fs').writeFileSync('seeded.txt', require('./version.cjs').version);`;
    write('seed.cjs', seed);
    write('version.cjs', `exports.version = 'first';`);
    write(
      'server.cjs',
      SERVER.replace(
        `require('./version.cjs')`,
        `{ version: require('node:fs').readFileSync('seeded.txt') }`,
      ),
    );
    write('stack.json', JSON.stringify(manifest));
    git(shop, 'init', '--quiet', '--initial-branch=main');
    git(shop, 'add', '.');
    git(shop, 'commit', '--quiet', '--message', 'Serve orders');
    git(shop, 'switch', '--quiet', '--create', 'cache');
    write('seed.cjs', seed.replace('version);', `version + '-' + process.env.CACHE_URL.split(':')[0]);`));
    write('cache.cjs', `require('node:http').createServer().listen(process.argv[2], '127.0.0.1');`);
    writeVersion(shop, 'second');
    const services = { cache: { command: ['node', 'cache.cjs', '{port}'] } };
    const app = { ...manifest.variants.app, env: { CACHE_URL: '{cache.url}' } };
    write('stack.json', JSON.stringify({ ...manifest, services, variants: { app } }));
    git(shop, 'add', '.');
    git(shop, 'commit', '--quiet', '--message', 'Cache orders');
    git(shop, 'switch', '--quiet', 'main');

    const { status, stdout, stderr } = await bench(shop, ['main', 'cache', ...SHORT, '--json']);

    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining(
        'warning: main and cache of shop declare different services or setups: their figures differ by these too\n',
      ),
    });
    const { trials } = JSON.parse(stdout) as { trials: Trial[] };
    expect(versionsServed(shop, trials)).toEqual({ main: 'first', cache: 'second-http' });
    expect(readdirSync(shop).filter((name) => name === 'seeded.txt')).toEqual([]);
  });

  it('can be two folders, to which no files are added', async () => {
    const other = join(folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'server.cjs'), SERVER);
    writeVersion(other, 'second');
    const files = (): string[] => [shop, other].flatMap((root) => readdirSync(root));
    const before = files();
    const run = ['--run', 'node server.cjs', '--get', '/orders'];
    const { status, stdout } = await bench(folder, ['./shop', './other', ...run, ...SHORT, '--json']);
    expect(status).toBe(0);
    const { trials } = JSON.parse(stdout) as { trials: Trial[] };
    expect(trials.map(({ target }) => target.id).toSorted()).toEqual(['app[./other]', 'app[./shop]']);
    expect(versionsServed(folder, trials)).toEqual({ './shop': 'first', './other': 'second' });
    expect(files()).toEqual(before);
  });
});

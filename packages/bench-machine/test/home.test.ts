import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine, findHome, makeProjectFolder, typePnpm } from '../src/home.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

describe('the words that start pnpm', () => {
  const agent = 'pnpm/12.21.0 npm/? node/? linux x64';

  it.each([
    ['pnpm', 'is on PATH', { npm_execpath: '/usr/bin/pnpm', npm_config_user_agent: agent }],
    [
      'npx -y pnpm@12',
      'npx has brought it',
      { npm_execpath: '/home/me/.npm/_npx/9c70/node_modules/pnpm/pnpm', npm_config_user_agent: agent },
    ],
    ['pnpm', 'nothing is known', {}],
  ])('are %s if %s', (words, _, env) => {
    expect(typePnpm(env)).toBe(words);
  });

  it('begin a command only if pnpm runs this one', () => {
    expect(commandLine('why latest', { npm_config_user_agent: agent })).toBe('pnpm bench:why latest');
    expect(commandLine('why latest', {})).toBe('bench-http why latest');
  });
});

describe('the folders of a command', () => {
  let place: string;
  let user: string;

  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'bench-home-'));
    user = join(place, 'home', 'someone');
    mkdirSync(user, { recursive: true });
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  function makeFolder(path: string, ...markers: string[]): string {
    const folder = join(user, path);
    mkdirSync(folder, { recursive: true });
    for (const marker of markers) writeFileSync(join(folder, marker), '');
    return folder;
  }

  it('are those of the repository anywhere inside it', () => {
    for (const folder of ['', 'packages/bench', 'python/fastapi']) {
      expect(findHome(join(REPOSITORY, folder), {}, user)).toEqual({
        kind: 'repository',
        root: REPOSITORY,
        results: join(REPOSITORY, 'results'),
        cache: join(REPOSITORY, '.cache'),
      });
    }
  });

  it.each([
    'bench.config.json',
    'stack.json',
    'package.json',
    'pyproject.toml',
    'go.mod',
    'Cargo.toml',
    '.git',
  ])('are those of the nearest project, marked by %s', (marker) => {
    const root = makeFolder('work/service', marker);
    const { results, ...rest } = findHome(makeFolder('work/service/src/api'), {}, user);
    expect(results).toBe(join(root, '.bench', 'results'));
    expect(rest).toMatchObject({ kind: 'project', root });
    expect(rest.cache.startsWith(user)).toBe(true);
    expect(rest.cache.endsWith('bench-http')).toBe(true);
  });

  it('are those of the current folder if there is no project', () => {
    const folder = makeFolder('empty/inner');
    expect(findHome(folder, {}, user).root).toBe(folder);
  });

  it('are never those of a home folder that holds a package.json', () => {
    makeFolder('', 'package.json');
    const folder = makeFolder('downloads');
    expect(findHome(folder, {}, user).root).toBe(folder);
  });

  it('are those of a project in another repository with similar files', () => {
    const root = makeFolder('other', 'package.json');
    const folder = makeFolder('other/packages/bench');
    writeFileSync(join(folder, 'package.json'), '{ "name": "somebody-elses" }');
    expect(findHome(root, {}, user).kind).toBe('project');
  });

  it('follow BENCH_RESULTS, BENCH_CACHE and XDG_CACHE_HOME', () => {
    const folder = makeFolder('service', 'go.mod');
    const env = { BENCH_RESULTS: join(place, 'r'), BENCH_CACHE: join(place, 'c') };
    expect(findHome(folder, env, user)).toMatchObject({ results: env.BENCH_RESULTS, cache: env.BENCH_CACHE });
    const { cache } = findHome(folder, { XDG_CACHE_HOME: join(place, 'xdg') }, user);
    expect(cache).toBe(join(place, 'xdg', 'bench-http'));
  });

  it('keep the results of a project out of git', () => {
    const folder = makeFolder('service', 'go.mod');
    const home = findHome(folder, {}, user);
    makeProjectFolder(home);
    expect(readFileSync(join(folder, '.bench', '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('are not created in a project whose results are elsewhere', () => {
    const folder = makeFolder('service', 'go.mod');
    makeProjectFolder(findHome(folder, { BENCH_RESULTS: join(place, 'r') }, user));
    expect(existsSync(join(folder, '.bench'))).toBe(false);
  });
});

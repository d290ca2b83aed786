/** With the real uv and npm, but without a registry: every package is a file of the project. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readApp, toStack } from '../../../src/catalogue/projects/app.ts';
import { readManifest } from '../../../src/catalogue/manifest.ts';
import type * as Homes from 'bench-machine/home';
import { spreadTargets, targetsOf } from '../../../src/catalogue/stacks.ts';
import type { Matrix } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import { runSync } from 'bench-machine/subprocess';
import { prepareAll, type Missing, type Prepared } from '../../../src/prepare/prepare.ts';
import { countOpen, describeOtherPackages } from '../../../src/prepare/projects/packages.ts';
import { dependsOnPlace } from '../../../src/prepare/projects/locks.ts';
import { provideUv } from '../../../src/prepare/uv.ts';
import { needs, tool } from '../../../../bench-lab/testing/needs.ts';
import { sampleStack } from '../../../../bench-lab/testing/samples.ts';
import { makeWheel } from './wheel.ts';

const PLACE = vi.hoisted(() => ({ cache: '', tools: '' }));
// Environments go to a folder of this test. The fetched uv stays in the cache of the repository.
vi.mock('bench-machine/home', async (importOriginal) => {
  const { mkdtempSync: make } = await import('node:fs');
  const os = await import('node:os');
  PLACE.cache = make(`${os.tmpdir()}/bench-cache-`);
  const real = await importOriginal<typeof Homes>();
  PLACE.tools = real.HOME.cache;
  return { ...real, HOME: { ...real.HOME, cache: PLACE.cache } };
});

const place = realpathSync(mkdtempSync(join(tmpdir(), 'bench-projects-')));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => {
  for (const folder of [place, PLACE.cache]) rmSync(folder, { recursive: true, force: true });
});

function treeOf(folder: string): Record<string, string> {
  const paths = globSync('**/*', { cwd: folder, withFileTypes: true }).map(({ parentPath, name }) =>
    join(parentPath, name),
  );
  return Object.fromEntries(
    paths.toSorted().map((path) => {
      const found = lstatSync(path);
      if (found.isDirectory()) return [path, 'folder'];
      const content = found.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
      return [path, createHash('sha256').update(content).digest('hex')];
    }),
  );
}

function makeProject(name: string, files: Record<string, string>): string {
  const root = join(place, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

async function findUv(): Promise<string> {
  const uv = await provideUv(PLACE.tools);
  if (uv !== 'uv') process.env['PATH'] = `${dirname(uv)}:${process.env['PATH']}`;
  return uv;
}

async function prepare(
  folder: string,
  run: string,
  matrix: Partial<Matrix> = {},
  lines: string[] = [],
): Promise<{ prepared: Prepared[]; missing: Missing[] }> {
  const stack = toStack(readApp({ folder, run }));
  const targets = spreadTargets(targetsOf(stack), { python: [], node: [], packages: [], ...matrix });
  return prepareAll(targets, [stack], (line) => lines.push(line));
}

/** Runs the command of a target like a server, and returns its output. */
function runIt({ command: [program = '', ...args], env, stack }: Prepared): string {
  const ran = runSync([program, ...args], { cwd: stack.root, env: { ...process.env, ...env } });
  return ran.stdout.trim();
}

const ASK = `python -c 'import lib, helper; print(lib.VERSION)'`;
const HELPER = { 'helper.py': 'HERE = True\n' };

function environments(): string[] {
  return globSync('environments/*/bench-ready', { cwd: PLACE.cache }).toSorted();
}

/** The words for the packages of each list. The list of requirements names a file, whose version it does not pin. */
const ORIGINS: Record<string, RegExp> = {
  'uv.lock': /^packages of uv\.lock$/,
  'requirements.txt': /^packages of requirements\.txt \(1 of 1 versions are not pinned: chosen on \d{4}-/,
  'pyproject.toml': /^no lock: packages of pyproject\.toml, versions chosen on \d{4}-/,
};

describe.for([
  [
    'uv.lock',
    {
      'pyproject.toml': `[project]\nname = "api"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["lib"]\n[tool.uv.sources]\nlib = { path = "vendor/lib-1.0-py3-none-any.whl" }\n`,
    },
  ],
  ['requirements.txt', { 'requirements.txt': './vendor/lib-1.0-py3-none-any.whl\n' }],
  [
    'pyproject.toml',
    {
      'pyproject.toml': `[project]\nname = "api"\nversion = "1"\ndependencies = ["lib"]\n[tool.uv.sources]\nlib = { path = "vendor/lib-1.0-py3-none-any.whl" }\n`,
    },
  ],
] as [string, Record<string, string>][])('a Python project with %s', ([lock, manifest]) => {
  const uv = needs(findUv);
  const name = `api-${lock.replace('.', '-')}`;
  let root = '';
  beforeAll(() => {
    root = makeProject(name, { ...manifest, ...HELPER });
    for (const version of ['1.0', '2.0']) makeWheel(join(root, 'vendor'), 'lib', version);
    if (lock === 'uv.lock' && uv.why === undefined)
      runSync([uv.get(), 'lock', '--offline', '--quiet'], { cwd: root });
  });

  it('gets its packages in a separate environment, and is not changed', async () => {
    const before = treeOf(root);
    const { prepared, missing } = await prepare(root, ASK);
    expect(missing).toEqual([]);
    const [found] = prepared;
    expect(found?.packages).toEqual(['lib==1.0']);
    expect(found?.runtime?.build['environment']).toBe(lock);
    expect(found?.origin).toMatch(ORIGINS[lock] ?? /-/);
    expect(runIt(found as Prepared)).toBe('1.0');
    expect(treeOf(root)).toEqual(before);
    expect(Object.keys(before).some((file) => file.endsWith(lock))).toBe(true);
  });

  it('reuses its environment while its lock is the same', async () => {
    await prepare(root, ASK);
    const before = environments();
    await prepare(root, ASK);
    expect(environments()).toEqual(before);
  });

  it('gets other versions on top of its lock, and reports them', async () => {
    const before = treeOf(root);
    vi.stubEnv('UV_FIND_LINKS', join(root, 'vendor'));
    vi.stubEnv('UV_OFFLINE', '1');
    const { prepared, missing } = await prepare(root, ASK, { packages: ['lib==1.0', 'lib==2.0'] });
    expect(missing).toEqual([]);
    expect(prepared.map(runIt)).toEqual(['1.0', '2.0']);
    expect(prepared.map(({ installed }) => installed)).toEqual([[], ['lib 2.0 instead of 1.0']]);
    expect(treeOf(root)).toEqual(before);
  });
});

describe('a Python stack of Bench', () => {
  needs(findUv);
  it('has an environment for each combination of locks, with its builds', async () => {
    const root = makeProject('stack', { 'build.py': 'import sys; open(sys.prefix + "/built", "w")' });
    for (const version of ['1.0', '2.0']) makeWheel(join(root, 'vendor'), 'lib', version);
    const lock = (version: string): string => {
      const wheel = `vendor/lib-${version}-py3-none-any.whl`;
      const hash = createHash('sha256')
        .update(readFileSync(join(root, wheel)))
        .digest('hex');
      return `lib @ file://${join(root, wheel)} --hash=sha256:${hash}\n`;
    };
    const ask = [
      '{runtime}',
      '-c',
      'import lib, os, sys; print(lib.VERSION, os.path.exists(sys.prefix + "/built"))',
    ];
    const build = [['{runtime}', 'build.py']];
    const stack: Stack = {
      ...sampleStack('stack', {
        plain: { command: ask, groups: ['one'] },
        same: { command: ask, groups: ['one'] },
        built: { command: ask, groups: ['one'], build },
        other: { command: ask, groups: ['two'] },
      }),
      runtime: 'python',
      root,
    };
    makeProject('stack', {
      'requirements.txt': '',
      'requirements-one.txt': lock('1.0'),
      'requirements-two.txt': lock('2.0'),
    });
    const before = environments().length;
    const { prepared, missing } = await prepareAll(targetsOf(stack), [stack]);
    expect(missing).toEqual([]);
    expect(prepared.map(runIt)).toEqual(['1.0 False', '1.0 False', '1.0 True', '2.0 False']);
    expect(environments()).toHaveLength(before + 3);
    expect(globSync('bytecode/**/lib*.pyc', { cwd: prepared[0]?.env['VIRTUAL_ENV'] })).not.toEqual([]);
    expect(prepared.map(({ claims }) => claims)).toEqual(Array.from({ length: 4 }, () => ({ jit: false })));
  });
});

describe('a list that cannot be installed', () => {
  needs(findUv);

  it('can be with other versions in place of its own, which are reported', async () => {
    const root = makeProject('old-list', { 'requirements.txt': 'lib==1.0\nOther.Lib==1.0\n', ...HELPER });
    makeWheel(join(root, 'vendor'), 'lib', '2.0');
    // Its name is written in another way, and its version stays.
    makeWheel(join(root, 'vendor'), 'other_lib', '1.0');
    vi.stubEnv('UV_FIND_LINKS', join(root, 'vendor'));
    vi.stubEnv('UV_OFFLINE', '1');
    const alone = await prepare(root, ASK);
    expect(alone.missing.map(({ reason }) => reason)).toEqual([expect.stringContaining('lib==1.0')]);
    const { prepared, missing } = await prepare(root, ASK, { packages: ['lib==2.0'] });
    expect(missing).toEqual([]);
    expect(prepared.map(runIt)).toEqual(['2.0']);
    expect(prepared.map(({ installed }) => installed)).toEqual([['lib 2.0 instead of 1.0']]);
  });
});

function member(name: string, more: string): Record<string, string> {
  return {
    [`${name}/pyproject.toml`]: `[project]\nname = "${basename(name)}"\nversion = "1"\nrequires-python = ">=3.9"\n${more}`,
  };
}

describe('a member of a uv workspace', () => {
  const uv = needs(findUv);
  let root = '';
  beforeAll(() => {
    root = makeProject('workspace', {
      'pyproject.toml':
        '[project]\nname = "root"\nversion = "1"\nrequires-python = ">=3.9"\n[tool.uv.workspace]\nmembers = ["services/api"]\n',
      ...member(
        'services/api',
        'dependencies = ["lib"]\n[tool.uv.sources]\nlib = { path = "../../vendor/lib-1.0-py3-none-any.whl" }\n',
      ),
      ...member('services/other', 'dependencies = []\n'),
      'services/api/helper.py': 'HERE = True\n',
    });
    makeWheel(join(root, 'vendor'), 'lib', '1.0');
    if (uv.why === undefined) runSync([uv.get(), 'lock', '--offline', '--quiet'], { cwd: root });
  });

  it('gets the packages of its lock, also outside of Git', async () => {
    const { prepared, missing } = await prepare(join(root, 'services/api'), ASK);
    expect(missing).toEqual([]);
    expect(prepared[0]?.origin).toBe('packages of ../../uv.lock');
    expect(runIt(prepared[0] as Prepared)).toBe('1.0');
  });

  it('is not taken for a member by a lock that does not list it', async () => {
    const { prepared } = await prepare(join(root, 'services/other'), `python -c ''`);
    expect(prepared[0]?.origin).toMatch(/^no lock: packages of pyproject\.toml, versions chosen on \d{4}-/);
  });
});

describe('the environment of a copy', () => {
  it.each([
    [false, 'uv.lock', 'source = { virtual = "." }\nwheels = [{ url = "lib-1.0-py3-none-any.whl" }]\n'],
    [true, 'uv.lock', 'source = { path = "vendor/lib-1.0-py3-none-any.whl" }\n'],
    [true, 'uv.lock', 'source = { editable = "packages/lib" }\n'],
    [true, 'poetry.lock', '[package.source]\ntype = "directory"\nurl = "lib"\n'],
    [false, 'requirements.txt', 'lib==1.0 --hash=sha256:abc\nmore>=2 # ./not-a-path\n'],
    [true, 'requirements.txt', 'more>=2\n-e lib\n'],
    [true, 'requirements.txt', './vendor/lib-1.0-py3-none-any.whl\n'],
    [true, 'requirements.txt', 'lib @ file:///vendor/lib-1.0-py3-none-any.whl\n'],
    [true, 'pyproject.toml', '[build-system]\nrequires = ["setuptools"]\n'],
  ])('depends on its place: %s for a %s with %j', (expected, name, text) => {
    const root = makeProject(`place-${createHash('sha256').update(text).digest('hex')}`, { [name]: text });
    expect(dependsOnPlace(root, [join(root, name)])).toBe(expected);
  });
});

describe('a Node project with a lock', () => {
  needs(tool('npm'));
  let root = '';
  beforeAll(() => {
    root = makeProject('shop', {
      'package.json': JSON.stringify({
        name: 'shop',
        private: true,
        scripts: { start: 'node server.cjs', prepare: 'exit 1' },
        dependencies: { lib: 'file:./lib' },
      }),
      'lib/package.json': JSON.stringify({ name: 'lib', version: '1.0.0' }),
      'lib/index.js': 'module.exports = "lib 1";\n',
      'server.cjs': 'console.log(require("lib"), require("fs").readFileSync(".env", "utf8"), __dirname);\n',
      '.env': 'TOKEN=abcdef\n',
    });
    runSync(['npm', 'install', '--package-lock-only', '--offline', '--ignore-scripts'], { cwd: root });
  });

  it('runs from a copy with its lock installed, and is not changed', async () => {
    const before = treeOf(root);
    const { prepared, missing } = await prepare(root, 'npm start');
    expect(missing).toEqual([]);
    const [found] = prepared as [Prepared];
    expect(runIt(found)).toBe(`lib 1 TOKEN=abcdef\n ${found.stack.root}`);
    expect(found.stack.root.startsWith(PLACE.cache)).toBe(true);
    expect(treeOf(root)).toEqual(before);
  });

  it('is copied without its secrets', async () => {
    const { prepared } = await prepare(root, 'npm start');
    const copy = prepared[0]?.stack.root ?? '';
    expect(readlinkSync(join(copy, '.env'))).toBe(join(root, '.env'));
    const texts = globSync('**/*', { cwd: copy, withFileTypes: true, exclude: ['node_modules'] }).filter(
      (entry) => entry.isFile(),
    );
    expect(
      texts.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join(),
    ).not.toContain('abcdef');
  });

  it('is installed for a Node on which npm does not run, and its scripts run on it', async () => {
    const old = makeProject('old-node', {
      node: `#!/bin/sh\ncase "$1" in *npm*) echo "npm does not support Node" >&2; exit 1;; esac\nexport OLD=yes\nexec '${process.execPath}' "$@"\n`,
    });
    chmodSync(join(old, 'node'), 0o755);
    const scripts = {
      install: 'node -p "process.env.OLD" > which.txt && npm run inner',
      inner: 'node -e ""',
    };
    const other = makeProject('native', {
      'package.json': JSON.stringify({ name: 'native', private: true, dependencies: { lib: 'file:./lib' } }),
      'lib/package.json': JSON.stringify({ name: 'lib', version: '1.0.0', scripts }),
    });
    runSync(['npm', 'install', '--package-lock-only', '--offline', '--ignore-scripts'], { cwd: other });
    const { prepared, missing } = await prepare(other, 'node server.cjs', { node: [join(old, 'node')] });
    expect(missing).toEqual([]);
    const copy = prepared[0]?.stack.root ?? '';
    expect(readFileSync(join(copy, 'lib/which.txt'), 'utf8')).toBe('yes\n');
  });

  it('is skipped with the reason of npm if its lock is out of date', async () => {
    const other = makeProject('stale', {
      'package.json': JSON.stringify({
        name: 'stale',
        dependencies: { lib: 'file:./lib', more: 'file:./more' },
      }),
      'package-lock.json': readFileSync(join(root, 'package-lock.json'), 'utf8'),
      'lib/package.json': JSON.stringify({ name: 'lib', version: '1.0.0' }),
      'more/package.json': JSON.stringify({ name: 'more', version: '1.0.0' }),
    });
    const { missing } = await prepare(other, 'node server.cjs');
    expect(missing[0]?.reason).toMatch(
      /^package-lock\.json cannot be installed for Node \d\S+: .*(in sync|Missing)/,
    );
    expect(missing[0]?.hint).toContain('package-lock.json');
  });
});

function prepareBuilt(root: string): ReturnType<typeof prepareAll> {
  const stack = {
    ...toStack(readApp({ folder: root, run: 'node dist/server.cjs' })),
    runtime: 'node' as const,
  };
  return prepareAll(targetsOf(stack), [{ ...stack, build: [['npm', 'run', 'build']] }], () => {});
}

describe('a Node project with a build', () => {
  needs(tool('npm'));
  const scripts = { build: 'node compile.cjs' };
  const compile = (text: string): Record<string, string> => ({
    'package.json': JSON.stringify({ name: 'site', private: true, scripts }),
    'compile.cjs': `const fs = require('fs'); fs.mkdirSync('dist', { recursive: true }); ${text}`,
  });

  it('is built in its copy, and is not changed', async () => {
    const root = makeProject(
      'site',
      compile(`fs.writeFileSync('dist/server.cjs', 'console.log("built", __dirname)');`),
    );
    const before = treeOf(root);
    const { prepared, missing } = await prepareBuilt(root);
    expect(missing).toEqual([]);
    const [found] = prepared as [Prepared];
    expect(runIt(found)).toBe(`built ${found.stack.root}/dist`);
    expect(treeOf(root)).toEqual(before);
  });

  it('is skipped with the last lines of a build that fails', async () => {
    const { missing } = await prepareBuilt(
      makeProject('broken', compile(`throw new Error('no such type');`)),
    );
    expect(missing[0]?.reason).toMatch(/broken\/app could not be built:[^]*no such type/);
  });
});

describe('a project with a setup', () => {
  needs(findUv);

  it.each([
    ['none', ['cat', 'data']],
    ['python', ['python', '-c', 'print(open("data").read())']],
    ['node', ['node', '-e', 'console.log(require("fs").readFileSync("data", "utf8"))']],
  ])('starts in a copy, in which the setup can change files: %s', async (runtime, command) => {
    const manifest = {
      name: `settled-${runtime}`,
      language: 'unknown',
      framework: 'none',
      runtime,
      default: 'app',
      variants: { app: { command } },
      setup: { command: ['sh', '-c', 'echo two >> data'] },
      requests: ['GET /'],
    };
    const above = makeProject(manifest.name, {
      '.git/HEAD': '',
      '.env': 'A=b\n',
      'services/shop/stack.json': JSON.stringify(manifest),
      'services/shop/data': 'one\n',
    });
    const root = join(above, 'services', 'shop');
    const before = treeOf(above);
    const stack = readManifest(join(root, 'stack.json'));
    const { prepared, missing } = await prepareAll(targetsOf(stack), [stack]);
    expect(missing).toEqual([]);
    const [found] = prepared as [Prepared];
    runIt({ ...found, command: found.setup ?? [] });
    expect(runIt(found)).toBe('one\ntwo');
    expect(treeOf(above)).toEqual(before);
    expect(readFileSync(join(found.stack.root, '../../.env'), 'utf8')).toBe('A=b\n');
  });
});

const serve = (says: string): string => `#!/bin/sh\necho ${says}\n`;
const outputsOf = ({ prepared }: { prepared: Prepared[] }): string[] => prepared.map(runIt);
/** A variant whose program is a copy of a file. */
const variantOf = (file: string): object => ({
  command: ['{build}/server'],
  build: [['cp', file, '{build}/server']],
});

describe('a program that Bench builds', () => {
  const manifest = {
    name: 'tool',
    language: 'shell',
    framework: 'none',
    runtime: 'none',
    build: [['cp', 'serve', '{build}/server']],
    default: 'app',
    variants: { app: { command: ['{build}/server'] } } as Record<string, object>,
    requests: ['GET /'],
  };
  let root = '';
  beforeAll(() => {
    root = makeProject('tool', { serve: serve('one') });
    chmodSync(join(root, 'serve'), 0o755);
  });
  const prepareIt = (changed: object = {}): ReturnType<typeof prepareAll> => {
    writeFileSync(join(root, 'stack.json'), JSON.stringify({ ...manifest, ...changed }));
    const stack = readManifest(join(root, 'stack.json'));
    return prepareAll(targetsOf(stack), [stack], () => {});
  };

  it('is built again after a change', async () => {
    const first = await prepareIt();
    writeFileSync(join(root, 'serve'), serve('two'));
    const second = await prepareIt();
    expect([...outputsOf(first), ...outputsOf(second)]).toEqual(['one', 'two']);
    const [before, after] = [...first.prepared, ...second.prepared];
    expect(after?.digest).not.toBe(before?.digest);
    expect(after?.origin).toMatch(/^built by cp \d/);
  });

  it('is not the old one if its build no longer writes it', async () => {
    writeFileSync(join(root, 'other'), '');
    const build = [['sh', 'make.sh', '{build}']];
    writeFileSync(join(root, 'make.sh'), 'cp serve "$1/server"\n');
    expect(outputsOf(await prepareIt({ build }))).toEqual(['two']);
    writeFileSync(join(root, 'make.sh'), 'cp serve "$1/renamed"\n');
    const { missing } = await prepareIt({ build });
    expect(missing[0]?.reason).toBe('the build of tool/app does not write {build}/server');
  });

  it('is that of its variant', async () => {
    writeFileSync(join(root, 'fast'), serve('fast'), { mode: 0o755 });
    const changed = { build: [], variants: { app: variantOf('serve'), fast: variantOf('fast') } };
    expect(outputsOf(await prepareIt(changed))).toEqual(['two', 'fast']);
  });

  it('is built in a copy of the project if its build does not write into {build}', async () => {
    writeFileSync(join(root, 'make.sh'), 'mkdir -p out && cp serve out/server\n');
    const before = treeOf(root);
    const changed = { build: [['sh', 'make.sh']], variants: { app: { command: ['./out/server'] } } };
    const made = await prepareIt(changed);
    expect(outputsOf(made)).toEqual(['two']);
    expect(made.prepared[0]?.stack.root.startsWith(PLACE.cache)).toBe(true);
    expect(Object.keys(treeOf(root))).toEqual(Object.keys(before));
    rmSync(join(root, 'make.sh'));
    writeFileSync(join(root, 'make.sh'), 'true\n');
    expect((await prepareIt(changed)).missing[0]?.reason).toContain('./out/server is not a program in');
  });

  it('is built again after a change in a package beside the project', async () => {
    writeFileSync(join(root, 'go.mod'), 'module tool\nreplace lib => ../lib-of-tool\n');
    const lib = makeProject('lib-of-tool', { 'go.mod': 'module lib\n', 'lib.go': 'package lib\n' });
    const before = await prepareIt();
    writeFileSync(join(lib, 'lib.go'), 'package lib // changed\n');
    const after = await prepareIt();
    expect(after.prepared[0]?.digest).not.toBe(before.prepared[0]?.digest);
  });
});

describe('a project without dependencies', () => {
  it('runs in place', async () => {
    const root = makeProject('plain', { 'server.js': 'console.log(process.cwd(), process.env.PORT)' });
    const [found] = (await prepare(root, 'node server.js')).prepared as [Prepared];
    expect(found.stack.root).toBe(root);
    expect(found.env['PORT']).toBe('{port}');
  });

  it.each([
    ['./server --port {port}', './server is not a program in'],
    ['no-such-program', 'no-such-program is not in the environment of the project, nor on PATH'],
  ])('is skipped if its program does not exist: %s', async (run, problem) => {
    const { missing } = await prepare(makeProject('gone', { 'go.mod': '' }), run);
    expect(missing[0]?.reason).toContain(problem);
    expect(missing[0]?.hint).toBeTruthy();
  });
});

describe('a Python project without dependencies', () => {
  needs(findUv);

  it('does not run a program from outside its environment', async () => {
    const { missing } = await prepare(makeProject('bare', { 'app.py': '' }), 'uvicorn app:app');
    expect(missing[0]?.reason).toContain('uvicorn is not in the environment of the project');
  });
});

function withPackages(id: string, packages: string[], wanted: string[] = []): Prepared {
  return { target: { id, stack: 'api', packages: wanted }, packages } as unknown as Prepared;
}

describe('the environments of one comparison', () => {
  it('are reported if unrequested packages differ', () => {
    const lines = describeOtherPackages([
      withPackages('api@3.12', ['a==1', 'b==1']),
      withPackages('api@3.13', ['a==1', 'b==2', 'c==1']),
    ]);
    expect(lines).toEqual(['api@3.13 differs from api@3.12 in its packages too: b 2 instead of 1, c 1']);
  });

  it('may differ in the setuptools that only older Pythons get', () => {
    const newer = withPackages('api@3.12', ['a==1']);
    expect(describeOtherPackages([newer, withPackages('api@3.11', ['a==1', 'setuptools==80'])])).toEqual([]);
    const prepared = [
      withPackages('api@3.12', ['setuptools==81']),
      withPackages('api@3.11', ['setuptools==80']),
    ];
    expect(describeOtherPackages(prepared)).toHaveLength(1);
  });

  it('may differ in the package of --with', () => {
    const one = withPackages('api[a==1]', ['a==1', 'b==1'], ['a==1']);
    expect(describeOtherPackages([one, withPackages('api[a==2]', ['a==2', 'b==1'], ['a==2'])])).toEqual([]);
  });
});

describe('the versions that a list of requirements leaves open', () => {
  it('are those that it does not pin, without those of --with', () => {
    const text =
      'One.a[x]==1 --hash=sha256:00\ntwo == 2 ; python_version > "3"\nthree>=3\nfour===4 \\\n  # five==5\n';
    const root = makeProject('pinned', { 'requirements.txt': text });
    const packages = ['one-a==1', 'two==2', 'three==3', 'four==4', 'five==5', 'six==7', 'setuptools==80'];
    const lists = [join(root, 'requirements.txt')];
    expect(countOpen({ packages, changed: [] }, lists)).toEqual({ count: 3, of: 6 });
    expect(countOpen({ packages, changed: ['six 7 instead of 6'] }, lists)).toEqual({ count: 2, of: 5 });
  });
});

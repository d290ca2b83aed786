import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import { needOf } from 'bench-targets/catalogue/apps/needs';
import { readWay } from 'bench-targets/catalogue/apps/ways';
import { git } from '../../../bench-lab/testing/user.ts';
import { foldTrace, TryError } from '../../src/init/attempt.ts';
import { makeManifest, type Draft } from '../../src/init/draft.ts';
import { understand, type Trouble } from '../../src/init/trouble.ts';
import { writeFiles } from '../../../bench-lab/testing/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-trouble-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Record<string, string>): void => writeFiles(folder, files);

const draftOf = (run: string, more: Partial<Draft> = {}): Draft => ({
  way: readWay(folder, run),
  needs: [],
  ...more,
});

/** What is understood of the end of a server that printed this. */
const troubleOf = (log: string, draft: Draft, ports: number[] = []): Promise<Trouble> =>
  understand(
    Object.assign(new TryError('trial', log, 'hint'), {
      seen: { log: log.split('\n'), ports, hasStarted: false },
    }),
    draft,
    folder,
  );

/** What is changed, in words and in the manifest. */
const changesOf = ({ changes }: Trouble): unknown[] =>
  changes.map(({ says, draft }) => [says, makeManifest(draft, { requests: [] }, join(folder, 'stack.json'))]);

const ofApp = (app: object): unknown =>
  expect.objectContaining({ variants: { app: expect.objectContaining(app) as unknown } });

describe('a server that listens elsewhere', () => {
  it('gets the variables of its ports: that of the service, and a free one for the other', async () => {
    write({
      'package.json': '{}',
      'shop.js': 'http.listen(process.env.SHOP_PORT || 8080); tls.listen(process.env.SHOP_TLS_PORT || 8443);',
    });
    const trouble = await troubleOf('', draftOf('node shop.js'), [8443, 8080]);
    expect(changesOf(trouble)).toEqual([
      [
        'SHOP_PORT={port}: shop.js sets it to 8080',
        ofApp({ env: { SHOP_PORT: '{port}', SHOP_TLS_PORT: '0' } }),
      ],
    ]);
    expect(trouble.changes).toMatchObject([{ isPlain: true }]);
  });

  it('is measured there if it cannot be moved; not twice', async () => {
    write({ 'go.mod': 'module shop\n', 'main.go': 'package main\n\nfunc main() {}\n' });
    const draft = draftOf('{build}/server');
    const { changes } = await troubleOf('', draft, [8080]);
    expect(changes.map(({ draft: { way, port } }) => [way.command, port])).toEqual([
      [['{build}/server'], 8080],
    ]);
    expect((await troubleOf('', changes[0]!.draft, [8080])).changes).toEqual([]);
  });
});

describe('a server that does not start', () => {
  it('is built if a file is missing that a build may write', async () => {
    write({ 'package.json': '{ "scripts": { "build": "node build.js" } }' });
    const trouble = await troubleOf(`Error: Cannot find 'dist/index.html'`, draftOf('node server.js'));
    expect(trouble.text).toBe('index.html is missing, which a build may write');
    expect(changesOf(trouble)).toEqual([
      ['npm run build before it', expect.objectContaining({ build: [['npm', 'run', 'build']] })],
    ]);
  });

  it('gets a copy of the example of its variables', async () => {
    write({ '.env.sample': 'SHOP=open\n' });
    const { changes } = await troubleOf('/bin/node: .env: not found', draftOf('node --env-file=.env a.js'));
    expect(changes).toMatchObject([{ draft: { way: { setup: ['cp', '.env.sample', '.env'] } } }]);
  });

  it('misses a file that its image makes', async () => {
    write({ Dockerfile: 'FROM node\nCOPY . .\nRUN openssl req -keyout shop.pem\n' });
    const { text, changes, error, option } = await troubleOf(
      `Error: ENOENT: no such file or directory, open 'shop.pem'`,
      draftOf('node server.js'),
    );
    expect([text, changes]).toEqual([
      'shop.pem is missing: line 3 of Dockerfile makes it, and Bench does not run that',
      [],
    ]);
    expect([error.message, option]).toEqual([
      expect.stringContaining(text),
      "--setup 'openssl req -keyout shop.pem'",
    ]);
  });

  it('gets the word for its server that it prints', async () => {
    const log = 'the server does not start: it ended\nUsage: shop serve [-listen :8080]';
    const trouble = await troubleOf(log, draftOf('./shop'));
    expect(changesOf(trouble)).toEqual([['./shop serve', ofApp({ command: ['./shop', 'serve'] })]]);
  });

  it('misses a database that a file names', async () => {
    write({ 'config/shop.yaml': 'postgres:\n  host: localhost\n  port: 5432\n' });
    const log = `  File "/x/site-packages/pg.py", line 1, in dial\nConnectionRefusedError: Connect call failed ('127.0.0.1', 5432)`;
    const draft = draftOf('python shop.py', { version: '3.14', isChosen: true });
    const { text, changes } = await troubleOf(log, draft);
    expect([text, changes]).toEqual([
      'PostgreSQL is missing: config/shop.yaml:3 names it. Nothing listens on port 5432: start it there, or let the server read its address from DATABASE_URL',
      [],
    ]);
  });

  it('does without a database that it looks for on the usual port only', async () => {
    const draft = draftOf('node shop.js', { needs: [needOf('mysql')] });
    const { changes } = await troubleOf('Error: connect ECONNREFUSED 127.0.0.1:3306', draft);
    expect(changes).toMatchObject([{ says: 'without mysql', draft: { needs: [] } }]);
  });

  it('gets a database whose address it may take from a variable', async () => {
    const { changes } = await troubleOf(
      'Error: connect ECONNREFUSED 127.0.0.1:6379',
      draftOf('node shop.js'),
    );
    expect(changes[0]?.draft.needs).toMatchObject([{ name: 'redis', env: { REDIS_URL: '{redis.url}' } }]);
  });

  it.each([
    ['KeyError: SHOP_KEY', 'SHOP_KEY'],
    ['Error: SHOP_KEY is required', 'SHOP_KEY'],
    ['Error: missing environment variable SHOP_KEY', 'SHOP_KEY'],
    ['shop_key\n  Field required [type=missing]', 'SHOP_KEY'],
    ['GET /: status 400: DisallowedHost at /', 'ALLOWED_HOSTS'],
    ["'shop' must be in INSTALLED_APPS, or no table orders", undefined],
  ])('misses a variable, by %j: %s', async (log, name) => {
    const { option } = await troubleOf(log, draftOf('node shop.js'));
    expect(option).toBe(name && `--env ${name}=`);
  });

  it('gets the variables of its .env', async () => {
    write({ '.env': 'SHOP_KEY=abc\n' });
    const trouble = await troubleOf('Error: SHOP_KEY is required', draftOf('node shop.js'));
    expect(changesOf(trouble)).toEqual([
      ['the variables of .env', expect.objectContaining({ envFile: '.env' })],
    ]);
  });

  it('gets the packages of the day of its commit if newer ones lack a name', async () => {
    git(folder, 'init', '--quiet');
    git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'x', '--date=2021-06-01T12:00:00');
    const day = git(folder, 'log', '-1', '--format=%cs').trim();
    const trouble = await troubleOf(
      `ImportError: cannot import name 'Shop' from 'web'`,
      draftOf('python shop.py'),
    );
    expect(changesOf(trouble)).toEqual([
      [`the packages of ${day}, the day of the commit`, expect.objectContaining({ packagesUntil: day })],
    ]);
  });

  it.each([
    [`  File "/x/lib/python3.13/site-packages/web/__init__.py", line 1, in <module>\nTypeError: no`, true],
    [`  File "/x/shop.py", line 1, in <module>\nTypeError: no`, false],
  ])('gets an older Python for an error in a package, and not in the project: %j', async (log, isOlder) => {
    const { text } = await troubleOf(log, draftOf('python shop.py', { version: '3.14', isChosen: true }));
    expect(text === 'it fails with CPython 3.14, which Bench chose').toBe(isOlder);
  });

  it('gets a server of Python that its host installs', async () => {
    const missing = new BenchError('toolchain', 'gunicorn is not in the environment of the project');
    const trouble = await understand(missing, draftOf('gunicorn shop:app'), folder);
    expect(changesOf(trouble)).toEqual([
      ['with the package gunicorn', expect.objectContaining({ packages: ['gunicorn'] })],
    ]);
  });

  it.each([
    [`ENOENT: no such file or directory, scandir './uploads'`, "try --setup 'mkdir -p ./uploads'"],
    ['Error: SHOP_KEY is required', 'try --env SHOP_KEY=…'],
    [`  received: 'undefined',\n  path: [ 'SHOP_KEY' ],`, 'try --env SHOP_KEY=…'],
    [`ModuleNotFoundError: No module named 'httpx'`, 'try --with httpx'],
  ])('says which option may mend %j', async (log, hint) => {
    expect((await troubleOf(log, draftOf('node shop.js'))).error.hint).toBe(hint);
  });

  it('takes its port from the variable that is for it, also without a default', async () => {
    write({ 'main.go': 'os.Getenv("DB_PORT")\nos.Getenv("APP_PORT")' });
    const { changes } = await troubleOf('', draftOf('./shop'), [8080]);
    expect(changes[0]?.says).toBe('APP_PORT={port}: main.go reads it');
  });

  it('has no say in bad usage', async () => {
    const usage = new BenchError('usage', 'no');
    await expect(understand(usage, draftOf('node shop.js'), folder)).rejects.toBe(usage);
  });
});

it('the frames of a trace are folded', () => {
  const log = [
    'Traceback:',
    '  File "/x/a.py", line 3, in f',
    '    fail()',
    '    ~~~~^^',
    'ValueError: no',
    '    at f (a.js:1)',
  ];
  expect(foldTrace(log)).toEqual(['Traceback:', 'ValueError: no']);
});

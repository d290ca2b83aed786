/** `bench-http init`: its findings, the manifest that it writes, and the files that it leaves unchanged. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { canMovePorts } from 'bench-targets/catalogue/ports';
import init from '../../src/commands/init.ts';
import { listPids, readLink } from 'bench-machine/procfs';
import { findFreePort } from 'bench-machine/ports';
import { git } from '../../../bench-lab/testing/user.ts';
import { needs, postgres } from '../../../bench-lab/testing/needs.ts';
import { runHere } from './cli.ts';

const state = vi.hoisted(() => {
  const place = process
    .getBuiltinModule('node:fs')
    .mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/bench-init-state-`);
  process.env['BENCH_STATE'] = place;
  return place;
});
afterAll(() => rmSync(state, { recursive: true }));

vi.mock('bench-targets/catalogue/ports', async (original) => {
  const ports = await original<typeof import('bench-targets/catalogue/ports')>();
  return { ...ports, canMovePorts: vi.fn<typeof ports.canMovePorts>(ports.canMovePorts) };
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function digests(): Record<string, string> {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file, createHash('sha256').update(readFileSync(file)).digest('hex')];
    }),
  );
}

/** The processes that run in the folder of the test. */
function running(): number[] {
  return listPids().filter((pid) => readLink(`/proc/${pid}/cwd`) === folder);
}

const SERVER = `
const { createServer } = require('node:http');
const id = { name: 'id', in: 'path', required: true };
const paths = {
  '/orders/{id}': { get: { parameters: [id] } },
  '/items/{id}': { get: { parameters: [{ ...id, example: 7 }] } },
  '/broken': { get: {} },
  '/orders': { get: {} },
  '/mine': { get: {} },
};
createServer((request, response) => {
  if (request.url === '/openapi.json') return response.end(JSON.stringify({ openapi: '3.1.0', paths }));
  if (['/orders', '/items/7'].includes(request.url)) return response.end('[]');
  if (request.url === '/broken') return response.writeHead(500).end('no\\u001b database');
  response.writeHead(request.url === '/mine' ? 401 : 404).end();
}).listen(process.env.PORT, '127.0.0.1');
`;
/** The sources of a server that answers these paths. */
const serving = (paths: string[]): string =>
  `require('node:http').createServer(({ url }, response) => {
    response.writeHead(${JSON.stringify(paths)}.includes(url) ? 200 : 404).end(url);
  }).listen(process.env.PORT, process.env.HOST);`;
const PACKAGE = '{ "engines": { "node": ">=22" }, "scripts": { "start": "node server.js" } }';

describe('init in a Git repository', () => {
  it('asks next what the branch changed, else what the last commit did', async () => {
    write({ 'package.json': PACKAGE, 'server.js': serving(['/orders', '/items']) });
    git(folder, 'init', '-q', '-b', 'main');
    const commit = (subject: string) => git(folder, 'commit', '-q', '--allow-empty', '-m', subject);
    commit('first');
    const nextOf = async () => {
      const { stdout } = await runHere(init, [folder, '--get', '/orders', '--get', '/items']);
      rmSync(join(folder, 'stack.json'));
      return stdout.split('\n').filter((line) => line.startsWith('next ') && line.includes('--rev'));
    };
    expect(await nextOf()).toEqual([]);
    commit('second');
    expect(await nextOf()).toEqual([
      expect.stringMatching(/--rev HEAD~1,\. {3}what your last change did: .* 4 min for each of 2 requests$/),
    ]);
    git(folder, 'switch', '-q', '-c', 'audit');
    expect(await nextOf()).toEqual([expect.stringContaining('--rev HEAD~1,.')]);
    commit('third');
    expect(await nextOf()).toEqual([
      expect.stringMatching(/--rev main,HEAD {3}what the branch audit changed: /),
    ]);
  });
});

describe('init with a database', () => {
  needs(postgres);

  it('prepares it by the migration of the project, or leaves that out if it fails', async () => {
    write({
      'package.json': PACKAGE.replace('"start"', '"db:migrate": "node migrate.js", "start"'),
      'migrate.js': `process.exit(process.env.DATABASE_URL.includes('/bench_') ? 0 : 5);`,
      'server.js': `if (!process.env.DATABASE_URL.includes('/bench_')) process.exit(3);${SERVER}`,
      '.env.example': 'DATABASE_URL=postgres://me:secret@localhost/shop\n',
    });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining('found    package.json: scripts.db:migrate, which prepares the database'),
    ]);
    const file = join(folder, 'stack.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      services: { db: { use: 'postgres' } },
      setup: { command: ['node', 'migrate.js'] },
    });
    rmSync(file);
    write({ 'migrate.js': `throw new Error('no such table');` });
    const again = await runHere(init, [folder]);
    expect(again.stdout).toMatch(
      /left out node migrate\.js: setup failed: exit status 1: Error: no such table/,
    );
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
    expect(manifest).toHaveProperty('services');
    expect(manifest).not.toHaveProperty('setup');
    expect(running()).toEqual([]);
  });
});

describe('init', () => {
  it('sends the usual headers to a path that fails without them, and to no other', async () => {
    const picky = serving(['/', '/orders', '/broken']).replace(
      'response.writeHead',
      "if (url === '/broken' || (url === '/' && headers['user-agent'] === undefined)) return response.writeHead(500).end('no agent');\n response.writeHead",
    );
    write({ 'package.json': PACKAGE, 'server.js': picky.replace('({ url }, ', '({ url, headers }, ') });
    const { stdout } = await runHere(init, [folder, '--get', '/', '--get', '/orders']);
    expect(stdout).toMatch(
      /asked +GET \/: status 200, .*; without the headers user-agent and accept, status 500$/m,
    );
    const { requests } = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')) as {
      requests: unknown;
    };
    expect(requests).toEqual([
      { request: 'GET /', headers: { 'user-agent': 'bench-http', accept: '*/*' } },
      'GET /orders',
    ]);
    rmSync(join(folder, 'stack.json'));
    write({
      'server.js': serving(['/'])
        .replace(
          'response.writeHead',
          "if (count++ % 2 === 0) return response.writeHead(500).end('every other');\n response.writeHead",
        )
        .replace('require', 'let count = 0; require'),
    });
    expect((await runHere(init, [folder, '--get', '/'])).stderr).toContain('GET /: status 500');
    write({ 'server.js': picky.replace('({ url }, ', '({ url, headers }, ') });
    const { status, stderr } = await runHere(init, [folder, '--get', '/broken']);
    expect(status).toBe(1);
    expect(stderr).toContain('GET /broken: status 500, no content type, 8 bytes: no agent');
  });

  it('writes a manifest that it has tried, and changes nothing else', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const before = digests();
    const { status, stdout } = await runHere(init, [folder]);
    expect(status).toBe(0);
    expect(stdout).toContain('found    package.json: scripts.start\n');
    expect(stdout).toContain('left out GET /orders/{id}: no example for the parameter "id"\n');
    expect(stdout).toContain('left out GET /broken: status 500, no content type, 12 bytes: no database\n');
    expect(stdout).toContain(
      'left out GET /mine: status 401, no content type, 0 bytes; it needs a login: --header',
    );
    expect(stdout).toContain(
      'assumed  2 requests; --get names others. Only GET is tried: stack.json may hold other methods\n',
    );
    const file = join(folder, 'stack.json');
    const { [file]: _, ...after } = digests();
    expect(after).toEqual(before);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      runtime: 'node',
      variants: { app: { command: ['node', 'server.js'] } },
      requests: ['GET /items/7', 'GET /orders'],
    });
    expect(readManifest(file).project).toEqual({ kind: 'node', lock: expect.anything() });
    expect(running()).toEqual([]);
  });

  it('takes an interpreter by its path, and writes its version', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const { status, stdout } = await runHere(init, [folder, '--node', process.execPath]);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`--node ${process.execPath} --rate 100`)]);
    expect(stdout).not.toContain('whether a newer runtime');
    expect(readManifest(join(folder, 'stack.json')).project?.version).toBe(
      process.versions.node.split('.')[0],
    );
  });

  it('sends a header with a variable, and warns of a secret in the manifest', async () => {
    const server = SERVER.replace(
      "['/orders'",
      "request.headers.authorization === 'Bearer 1234567' && ['/orders'",
    );
    write({ 'package.json': PACKAGE, 'server.js': server });
    const ask = (value: string) =>
      runHere(init, [folder, '--get', '/orders', '--header', `Authorization: Bearer ${value}`]);
    expect(await ask('{env:SHOP_TOKEN}')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--header: the variable SHOP_TOKEN is not set') as string,
    });
    vi.stubEnv('SHOP_TOKEN', '1234567');
    const { status, stdout } = await ask('{env:SHOP_TOKEN}');
    expect([status, stdout]).toEqual([0, expect.not.stringContaining('keep it out of your repository')]);
    const file = join(folder, 'stack.json');
    expect(readFileSync(file, 'utf8')).toContain('"Bearer {env:SHOP_TOKEN}"');
    rmSync(file);
    expect((await ask('1234567')).stdout).toContain("write 'authorization: Bearer {env:NAME}'");
  });

  it('declares a service that it has tried, and leaves out one that the server cannot use', async () => {
    const fake = `require('node:net').createServer().listen(process.argv[2])`;
    write({
      'package.json': PACKAGE,
      'bin/redis-server': `#!/usr/bin/env node\nconst [, port] = process.argv.slice(2); ${fake.replace('process.argv[2]', 'port')}`,
    });
    chmodSync(join(folder, 'bin/redis-server'), 0o755);
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
    write({
      '.env': 'CACHE=redis://localhost\n',
      'server.js': `if (!process.env.CACHE) process.exit(3);${SERVER}`,
    });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([0, expect.anything()]);
    expect(stdout).toContain('found    .env: CACHE, so the service "cache" is tried\n');
    const file = join(folder, 'stack.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      variants: { app: { env: { CACHE: '{cache.url}' } } },
      services: { cache: { url: 'redis://{host}:{port}/0' } },
    });
    rmSync(file);
    write({ 'server.js': `if (process.env.CACHE) throw new Error('no such cache');${SERVER}` });
    const again = await runHere(init, [folder]);
    expect(again.stdout).toContain('left out the services: the server does not start');
    expect(JSON.parse(readFileSync(file, 'utf8'))).not.toHaveProperty('services');
    rmSync(file);
    write({ 'server.js': `throw new Error(process.env.CACHE ? 'no table' : 'no cache')` });
    const failed = await runHere(init, [folder]);
    vi.unstubAllEnvs();
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('Error: no table')]);
    expect(running()).toEqual([]);
  });

  it('gives a server the variables of .env if it ends without them', async () => {
    write({
      'package.json': PACKAGE,
      '.env': 'SHOP_KEY=abc\n',
      'server.js': `if (!process.env.SHOP_KEY) throw new Error('SHOP_KEY is missing');${SERVER}`,
    });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        /trying +the variables of \.env, which it may not read itself: .*SHOP_KEY is missing\n/,
      ),
    ]);
    expect(readManifest(join(folder, 'stack.json')).envFile).toBe('.env');
    write({ 'server.js': `throw new Error('whatever it gets');` });
    rmSync(join(folder, 'stack.json'));
    const failed = await runHere(init, [folder]);
    expect([failed.status, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/^(?=[^]*whatever it gets)(?![^]*--dotenv)/),
    ]);
    expect(running()).toEqual([]);
  });

  it('waits until the server is available', async () => {
    const early = `
const { createServer } = require('node:http');
const startedAt = Date.now();
createServer((request, response) => {
  const isEarly = Date.now() - startedAt < 400;
  response.writeHead(isEarly ? 503 : request.url === '/' ? 200 : 404).end();
}).listen(process.env.PORT, '127.0.0.1');
`;
    write({ 'package.json': PACKAGE, 'server.js': early });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([0, expect.not.stringContaining('503')]);
    expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))).toMatchObject({
      requests: ['GET /'],
    });
    expect(running()).toEqual([]);
  });

  it.for(['free', 'taken'])(
    'moves a server from the port that its sources name, and that is %s',
    async (how, { skip }) => {
      skip(!canMovePorts(), 'the port of a server cannot be moved here: that needs Linux and cc on PATH');
      const port = await findFreePort();
      await using other = createServer();
      if (how === 'taken') await once(other.listen(port, '127.0.0.1'), 'listening');
      else other.listen(0);
      write({ 'package.json': PACKAGE, 'server.js': SERVER.replace('process.env.PORT', String(port)) });
      const { status, stdout } = await runHere(init, [folder]);
      expect([status, stdout]).toEqual([
        0,
        expect.stringContaining(`listens on the port that it was given, instead of ${port}\n`),
      ]);
      const { port: kept, movedPort } = readManifest(join(folder, 'stack.json'));
      expect([kept, movedPort]).toEqual([undefined, port]);
      expect(running()).toEqual([]);
    },
  );

  it('measures a server that cannot be moved on the port that its sources name', async () => {
    const port = await findFreePort();
    write({ 'package.json': PACKAGE, 'server.js': SERVER.replace('process.env.PORT', String(port)) });
    vi.mocked(canMovePorts).mockReturnValue(false);
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`found    it listens on port ${port}`)]);
    expect(stdout).toContain('assumed  its targets are measured one at a time\n');
    expect(readManifest(join(folder, 'stack.json')).port).toBe(port);
    vi.mocked(canMovePorts).mockReset();
    expect(running()).toEqual([]);
  });

  it('gives a server the usual option for its port, and keeps that if the server takes it', async () => {
    const port = `process.argv.includes('--port') ? process.argv.at(-1) : ${await findFreePort()}`;
    write({ 'package.json': PACKAGE, 'server.js': SERVER.replace('process.env.PORT', port) });
    expect(await runHere(init, [folder])).toMatchObject({ status: 0 });
    const { variants, port: kept } = readManifest(join(folder, 'stack.json'));
    expect([variants['app']?.command.slice(-2), kept]).toEqual([['--port', '{port}'], undefined]);
  });

  it('tries the next start if one fails, with the variables of an example', async () => {
    write({
      'package.json': '{ "scripts": { "start:prod": "node broken.js" }, "engines": { "node": ">=22" } }',
      'broken.js': 'process.exit(3);',
      'server.js': `if (process.env.SHOP !== 'open') process.exit(4);${SERVER}`,
      '.env.example': 'SHOP=open\nSHOP_ENV="development"\n',
    });
    const { status, stdout } = await runHere(init, [folder]);
    expect(status).toBe(0);
    expect(stdout).toContain('left out node broken.js: the server does not start: exit status 3');
    expect(stdout).toContain('warning  .env.example sets SHOP_ENV=development: figures');
    expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))).toMatchObject({
      variants: { app: { command: ['node', 'server.js'] } },
      envFile: '.env.example',
    });
  });

  it.each([
    ['package.json', '{}', "--run 'node shop/…'"],
    ['requirements.txt', 'aiohttp\n', "--run 'python shop/…'"],
  ])('names the folder above that holds the packages, by %s', async (manifest, text, run) => {
    write({ '.git/HEAD': '', [manifest]: text, 'shop/list.txt': '' });
    const { status, stderr } = await runHere(init, [join(folder, 'shop')]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(run)]);
  });

  it('shows the folder of another start', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER, 'admin/package.json': PACKAGE });
    const { stdout } = await runHere(init, [folder]);
    expect(stdout).toContain(
      `or       bench-http init ${relative(process.cwd(), join(folder, 'admin'))} --run 'node `,
    );
  });

  it('never overwrites a manifest', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER, 'stack.json': '{}' });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/stack\.json exists already, and init does not overwrite it\n.*--output/),
    ]);
    expect(readFileSync(join(folder, 'stack.json'), 'utf8')).toBe('{}');
  });

  it.each([
    [
      'ends',
      `console.error('Error: no DATABASE_URL'); process.exit(3);`,
      /exit status 3: Error: no DATABASE_URL/,
    ],
    [
      'listens on another port',
      SERVER.replace('process.env.PORT', '0'),
      /it listens on port \d+, not on \d+\n {2}command: node server\.js\n[^]*pass \{port\} in --run/,
    ],
  ])('says why a server that %s does not start, and writes nothing', async (_what, server, says) => {
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(says)]);
    expect(Object.keys(digests())).toHaveLength(2);
    expect(running()).toEqual([]);
  });

  it('ends at an interruption, also while it waits for an answer', async () => {
    const silent = `require('node:http').createServer(() => require('node:fs').writeFileSync('asked', ''))`;
    write({ 'package.json': PACKAGE, 'server.js': `${silent}.listen(process.env.PORT, process.env.HOST);` });
    const ended = runHere(init, [folder]);
    await vi.waitFor(() => expect(globSync('asked', { cwd: folder })).toEqual(['asked']), 30_000);
    process.emit('SIGINT');
    expect(await ended).toMatchObject({
      status: 130,
      stderr: expect.stringContaining('nothing was written'),
    });
    expect(globSync('stack.json', { cwd: folder })).toEqual([]);
    expect(running()).toEqual([]);
  });

  it('says that a server has ended after it listened, and why', async () => {
    const fails = `require('node:http').createServer(() => { throw new Error('no table orders'); })`;
    write({ 'package.json': PACKAGE, 'server.js': `${fails}.listen(process.env.PORT, process.env.HOST);` });
    const { status, stderr } = await runHere(init, [folder]);
    expect(status).toBe(1);
    expect(stderr).toContain(
      'the server does not start: exit status 1: Error: no table orders, after it listened',
    );
    expect(running()).toEqual([]);
  });

  it('refuses a path that the server does not answer', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const { status, stderr } = await runHere(init, [folder, '--get', '/broken']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('error: GET /broken: status 500')]);
    expect(Object.keys(digests())).toHaveLength(2);
  });

  it('quotes the log of a server that answers each path with 500', async () => {
    const server = `require('node:http').createServer((_, response) => {
      console.error('no such table: orders');
      response.statusCode = 500;
      response.end();
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('  | no such table: orders\n')]);
  });

  it('says that a server limits the rate of requests', async () => {
    const server = `let left = 30;
    require('node:http').createServer((_, response) => {
      left -= 1;
      response.statusCode = left < 0 ? 429 : 200;
      response.end('x');
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/warning {2}it limits .* 429 after \d+: raise/),
    ]);
    // Each path has the same answer.
    expect(stdout).not.toContain('OpenAPI');
    expect(stdout).toContain('assumed  1 request;');
  });

  it('leaves out a health check, unless nothing else answers', async () => {
    write({ 'package.json': PACKAGE, 'server.js': serving(['/', '/health']) });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([0, expect.stringContaining('left out GET /health: a health check')]);
    const file = join(folder, 'stack.json');
    expect(readManifest(file)).toMatchObject({ requests: { draft: { requests: [{ path: '/' }] } } });
    rmSync(file);
    write({ 'server.js': serving(['/health']) });
    expect(await runHere(init, [folder])).toMatchObject({ status: 0 });
    expect(readManifest(file)).toMatchObject({ requests: { draft: { requests: [{ path: '/health' }] } } });
  });

  it('expects only the status of an answer whose body varies, also if two are equal', async () => {
    const server = `let count = 0;
    require('node:http').createServer(({ url }, response) => {
      if (url !== '/') return response.writeHead(404).end();
      response.end(String(Math.floor(count++ / 4)));
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([0, expect.stringContaining('found    GET /: its body varies')]);
    expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))).toMatchObject({
      requests: [{ request: 'GET /', expect: { status: 200 } }],
    });
  });

  it('leaves out a slow answer beside others', async () => {
    const server = `require('node:http').createServer(({ url }, response) => {
      if (!['/', '/api'].includes(url)) return response.writeHead(404).end();
      setTimeout(() => response.end(url), url === '/api' ? 1100 : 0);
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/left out GET \/api: an answer takes [\d.]+ s; --get measures it anyway/),
    ]);
    const requests = { draft: { requests: [{ path: '/' }] } };
    expect(readManifest(join(folder, 'stack.json'))).toMatchObject({ requests });
  });

  it('measures a page once that several paths show', async () => {
    const names = ['/cart', '/orders', '/items', '/notes'];
    const document = {
      openapi: '3.1.0',
      paths: Object.fromEntries(names.map((name) => [name, { get: {} }])),
    };
    const server = `require('node:http').createServer(({ url }, response) => {
      if (url === '/openapi.json') return response.end('${JSON.stringify(document)}');
      response.end(['/cart', '/orders'].includes(url) ? '<p>shop</p>' : '[]');
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stdout } = await runHere(init, [folder]);
    const said = 'left out GET /orders: the same page as GET /cart';
    expect([status, stdout]).toEqual([0, expect.stringContaining(said)]);
    const requests = ['/cart', '/items', '/notes'].map((path) => ({ path }));
    expect(readManifest(join(folder, 'stack.json'))).toMatchObject({ requests: { draft: { requests } } });
  });

  it('leaves out a path whose answer grows with each request, unless it is named', async () => {
    const server = `let grown = '';
    require('node:http').createServer(({ url }, response) => {
      if (url === '/notes') grown += 'a';
      const body = { '/': '[1]', '/notes': grown }[url];
      response.writeHead(body === undefined ? 404 : 200).end(body);
    }).listen(process.env.PORT, process.env.HOST, () => console.log('GET /notes'));`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        /left out GET \/notes: .* bytes; its answer grows with each request, so it writes/,
      ),
    ]);
    const file = join(folder, 'stack.json');
    expect(readManifest(file)).toMatchObject({ requests: { draft: { requests: [{ path: '/' }] } } });
    rmSync(file);
    const named = await runHere(init, [folder, '--get', '/notes']);
    expect([named.status, named.stdout]).toEqual([0, expect.stringContaining('warning  its answer grows')]);
  });

  it('says how to measure a path that it left out, if no other answers', async () => {
    const server = `let grown = '';
    require('node:http').createServer(({ url }, response) => {
      if (url === '/notes') return response.end((grown += 'a'));
      response.writeHead(url === '/health' ? 503 : 404).end();
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stderr } = await runHere(init, [folder]);
    expect(status).toBe(2);
    expect(stderr).toContain(
      'error: GET /notes answers with 2xx, but was left out, because its answer grows with each request. Not answered with 2xx: /health status 503',
    );
    expect(stderr).toContain("to measure it anyway: --get /notes. Otherwise, name one: --get '/orders");
  });

  it('says that a path needs a login', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const { status, stderr } = await runHere(init, [folder, '--get', '/mine']);
    expect(status).toBe(1);
    expect(stderr).toContain('error: GET /mine: status 401');
    expect(stderr).toContain('send it with --header, or name a path that needs none: --get');
  });

  it('asks for the login that every path needs', async () => {
    const server = `require('node:http').createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="shop"' }).end();
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("needs a login: --header 'authorization: Basic …'"),
    ]);
    expect(stdout).not.toContain('left out');
  });

  it('names the Unix socket on which a server listens, and tries it once', async () => {
    const socket = join(folder, 'shop.sock');
    const server = `require('node:http').createServer().listen('${socket}');`;
    write({ 'package.json': PACKAGE.replace('"engines": { "node": ">=22" }, ', ''), 'server.js': server });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/it listens on the Unix socket \S+shop\.sock, not on port \d+\n[^]*over TCP/),
    ]);
    expect(stdout).not.toContain('trying');
  });

  it('asks nobody without a terminal, and takes the first of several with --yes', async () => {
    write({ 'a.js': SERVER, 'b.js': SERVER, 'package.json': '{}' });
    const refused = await runHere(init, [folder]);
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /the server can start in 2 ways:\n {2}1 {2}node a\.js\n {2}2 {2}node b\.js\n.*--yes/,
      ),
    ]);
    const { status, stdout } = await runHere(init, [folder, '--yes']);
    expect([status, stdout]).toEqual([0, expect.stringContaining('assumed  node a.js: the first of 2')]);
  });

  it.each([
    ['Gemfile', 'Ruby', 'bundle exec puma'],
    ['composer.json', 'PHP', 'php -S {host}:{port}'],
    ['mix.exs', 'Elixir', 'mix phx.server'],
  ])('says that it does not know the layout of a project with a %s', async (file, language, command) => {
    write({ [file]: '' });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([2, `found    ${file}\n`]);
    expect(stderr).toContain(`${file}: Bench does not know how projects in ${language} start\n`);
    expect(stderr).toContain(`--run '${command}`);
  });

  it('says what is missing in an empty folder', async () => {
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/nothing in the project says how its server starts\n.*--run/),
    ]);
  });
});

/** `bench-http init`: its findings, the manifest that it writes, and the files that it leaves unchanged. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { canMovePorts } from 'bench-targets/catalogue/ports';
import init from '../../src/commands/init.ts';
import { listPids, readLink } from 'bench-machine/procfs';
import { findFreePort } from 'bench-machine/ports';
import { needs, postgres } from '../../../bench-lab/testing/needs.ts';
import { hasProc, Place, runHere } from './cli.ts';
import { COMMAND } from '../../../bench-lab/testing/user.ts';
import { writeFiles } from '../../../bench-lab/testing/files.ts';

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

const write = (files: Record<string, string>): void => writeFiles(folder, files);

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
  '/mine': { get: {} }, '/panic': { get: {} },
};
createServer((request, response) => {
  if (request.url === '/openapi.json') return response.end(JSON.stringify({ openapi: '3.1.0', paths }));
  if (['/orders', '/items/7'].includes(request.url)) return response.end('[]');
  if (request.url === '/panic') process.exit(3); else if (request.url === '/broken') return response.writeHead(500).end('no\\u001b database');
  response.writeHead(request.url === '/mine' ? 401 : 404).end();
}).listen(process.env.PORT, '127.0.0.1');
`;
/** The sources of a server that answers these paths. */
const serving = (paths: string[]): string =>
  `require('node:http').createServer(({ url }, response) => {
    response.writeHead(${JSON.stringify(paths)}.includes(url) ? 200 : 404).end(url);
  }).listen(process.env.PORT, process.env.HOST);`;
const PACKAGE = '{ "engines": { "node": ">=22" }, "scripts": { "start": "node server.js" } }';

describe('init with a database', () => {
  needs(postgres);

  it('prepares it by the migration of the project, and says if that fails', async () => {
    write({
      'package.json': PACKAGE.replace('"start"', '"db:migrate": "node migrate.js", "start"'),
      'migrate.js': `process.exit(process.env.DATABASE_URL.includes('/bench_') ? 0 : 5);`,
      'server.js': `if (!process.env.DATABASE_URL.includes('/bench_')) process.exit(3);${SERVER}`,
      '.env.example': 'DATABASE_URL=postgres://me:secret@localhost/shop\n',
    });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining('runs     npm run db:migrate, before each start\n'),
    ]);
    const file = join(folder, 'stack.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      services: { postgres: { use: 'postgres' } },
      setup: { command: ['npm', 'run', 'db:migrate'] },
    });
    rmSync(file);
    write({ 'migrate.js': `throw new Error('no such table');` });
    const again = await runHere(init, [folder]);
    expect([again.status, again.stderr]).toEqual([1, expect.stringMatching(/setup failed[^]*no such table/)]);
    expect(running()).toEqual([]);
  });
});

describe('init', () => {
  it('writes a manifest that it has tried, and changes nothing else', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const before = digests();
    const { status, stdout } = await runHere(init, [folder]);
    expect(status).toBe(0);
    expect(stdout).toContain('assumed  node server.js, from package.json: scripts.start\n');
    expect(stdout).toContain('assumed  Node 26: the project pins none; --node names another\n');
    expect(stdout).toContain('left out GET /broken: status 500: no database\n');
    expect(stdout).toContain('left out GET /mine: status 401; it needs a login: --header');
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
    expect((await ask('1234567')).stdout).toContain('the value of authorization in it: ');
  });

  it('declares a service that it has tried', async () => {
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
    expect(stdout).toContain('found    .env: CACHE, so Redis is tried\n');
    const file = join(folder, 'stack.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      variants: { app: { env: { CACHE: '{redis.url}' } } },
      services: { redis: { url: 'redis://{host}:{port}/0' } },
    });
    vi.unstubAllEnvs();
    expect(running()).toEqual([]);
  });

  it.runIf(hasProc)('leaves out a service that nothing connected to', async () => {
    write({
      'package.json': PACKAGE,
      'bin/redis-server': `#!/usr/bin/env node\nrequire('node:net').createServer().listen(process.argv[3])`,
      '.env.example': 'CACHE=redis://localhost\n',
      'server.js': SERVER,
    });
    chmodSync(join(folder, 'bin/redis-server'), 0o755);
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
    const run = async (): Promise<object> => {
      const { status, stdout } = await runHere(init, [folder]);
      const { services } = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')) as {
        services?: object;
      };
      rmSync(join(folder, 'stack.json'));
      return { status, services, isSaid: stdout.includes('left out redis: nothing connected to it\n') };
    };
    expect(await run()).toEqual({ status: 0, services: undefined, isSaid: true });
    write({ 'server.js': `require('node:net').connect(new URL(process.env.CACHE).port);${SERVER}` });
    expect(await run()).toMatchObject({ status: 0, services: { redis: {} }, isSaid: false });
    vi.unstubAllEnvs();
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
      expect.stringMatching(/failed +it misses the variable SHOP_KEY\nassumed +the variables of \.env\n/),
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
        expect.stringContaining(`, on the port that it was given, instead of ${port}\n`),
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
    expect([status, stdout]).toEqual([0, expect.stringContaining(`on port ${port}\n`)]);
    expect(stdout).toContain('its targets are measured one at a time\n');
    expect(readManifest(join(folder, 'stack.json')).port).toBe(port);
    vi.mocked(canMovePorts).mockReset();
    expect(running()).toEqual([]);
  });

  it('tries the next start if one fails, with the variables of an example', async () => {
    write({
      'package.json': PACKAGE.replace(
        '"start": "node server.js"',
        '"prod": "node broken.js", "start": "node shop.js"',
      ),
      'broken.js': 'process.exit(3);',
      'shop.js': `if (process.env.SHOP !== 'open') process.exit(4);${SERVER}`,
      '.env.example': 'SHOP=open\nSHOP_ENV="development"\n',
    });
    const { status, stdout } = await runHere(init, [folder]);
    expect(status).toBe(0);
    expect(stdout).toContain('assumed  node shop.js, from package.json: scripts.start\n');
    expect(stdout).toContain('warning  .env.example sets SHOP_ENV=development: figures');
    expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))).toMatchObject({
      variants: { app: { command: ['node', 'shop.js'] } },
      envFile: '.env.example',
    });
  });

  it('shows the folder of another start', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER, 'admin/package.json': PACKAGE });
    const { stdout } = await runHere(init, [folder]);
    expect(stdout).toContain('or       node server.js in admin, from admin/package.json: scripts.start\n');
  });

  it('never overwrites a manifest', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER, 'stack.json': '{}' });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/stack\.json exists already, and init does not overwrite it\n/),
    ]);
    expect(readFileSync(join(folder, 'stack.json'), 'utf8')).toBe('{}');
  });

  it('says why a server does not start, and writes nothing', async () => {
    write({
      'package.json': PACKAGE,
      'server.js': `console.error('Error: no DATABASE_URL'); process.exit(3);`,
    });
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/exit status 3: Error: no DATABASE_URL/)]);
    expect(Object.keys(digests())).toHaveLength(2);
    expect(running()).toEqual([]);
  });

  it('ends at an interruption, also while it waits for a response', async () => {
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

  it('refuses a path that the server does not respond', async () => {
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
    expect([status, stderr]).toEqual([1, expect.stringContaining('  | no such table: orders\n')]);
  });

  it('leaves out a health check, unless nothing else answers', async () => {
    write({ 'package.json': PACKAGE, 'server.js': serving(['/', '/health']) });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/left out GET \/health: .+, for monitoring/)]);
    const file = join(folder, 'stack.json');
    expect(readManifest(file)).toMatchObject({ requests: { draft: { requests: [{ path: '/' }] } } });
    rmSync(file);
    write({ 'server.js': serving(['/health']) });
    expect(await runHere(init, [folder])).toMatchObject({ status: 0 });
    expect(readManifest(file)).toMatchObject({ requests: { draft: { requests: [{ path: '/health' }] } } });
  });

  it('follows a redirect to what can be measured', async () => {
    const server = `require('node:http').createServer(({ url }, response) => {
      response.writeHead(url === '/login' ? 200 : 302, { location: '/login?next=' + url }).end(url);
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    expect(await runHere(init, [folder])).toMatchObject({ status: 0 });
    const requests = [{ path: '/login' }];
    expect(readManifest(join(folder, 'stack.json'))).toMatchObject({ requests: { draft: { requests } } });
  });

  it('expects only the status of a response whose body varies, also if two are equal', async () => {
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

  it('measures a page once that several paths show', async () => {
    const names = ['/cart', '/orders', '/items', '/notes'];
    const document = {
      openapi: '3.1.0',
      paths: Object.fromEntries(names.map((name) => [name, { get: {} }])),
    };
    const server = `require('node:http').createServer(({ url }, response) => {
      if (url === '/openapi.json') return response.end('${JSON.stringify(document)}');
      response.end(['/cart', '/orders'].includes(url) ? 'Welcome to the shop' : '[]');
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    expect(await runHere(init, [folder])).toMatchObject({ status: 0 });
    const requests = ['/cart', '/items', '/notes'].map((path) => ({ path }));
    expect(readManifest(join(folder, 'stack.json'))).toMatchObject({ requests: { draft: { requests } } });
  });

  it('says that a path needs a login', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const { status, stderr } = await runHere(init, [folder, '--get', '/mine']);
    expect(status).toBe(1);
    expect(stderr).toContain('error: GET /mine: status 401');
    expect(stderr).toContain("it needs a login: --header 'authorization: …'");
  });

  it('asks for the login that every path needs', async () => {
    const server = `require('node:http').createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="shop"' }).end();
    }).listen(process.env.PORT, process.env.HOST);`;
    write({ 'package.json': PACKAGE, 'server.js': server });
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("needs a login: --header 'authorization: …'"),
    ]);
  });

  it('takes the first of several ways where nobody can be asked, and names the others', async () => {
    write({
      'a.js': SERVER,
      'package.json': '{ "scripts": { "start": "node a.js", "serve": "node b.js" } }',
    });
    const { status, stdout } = await runHere(init, [folder]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^or +node b\.js, from package\.json: scripts\.serve\nassumed +node a\.js, /),
    ]);
  });

  it('tries each way once, and says what each lacked', async () => {
    write({
      'package.json':
        '{ "scripts": { "start": "node a.js", "serve": "./missing/shop", "dev": "node b.js" } }',
      'a.js': `throw new Error('no table orders');`,
      'b.js': 'process.exit(3);',
      Dockerfile: 'FROM node\nCMD ["node", "./a.js"]\n',
    });
    const { status, stdout, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /no way of 2 to start the server worked:\n +Dockerfile: CMD: .*no table orders.*\n +package\.json: scripts\.dev: .*exit status 3.*\n/,
      ),
    ]);
    expect(stdout.match(/^runs +node .\/a\.js$/gm)).toHaveLength(1);
  });

  it('gets its settings by options, with a request that has a body, and keeps them', async () => {
    write({
      'package.json': PACKAGE,
      'shop.js': `if (process.env.SHOP !== 'open') process.exit(3);
      require('node:http').createServer((request, response) => {
        request.on('data', (data) => response.writeHead(request.method === 'POST' ? 201 : 404).end(data));
        if (request.method !== 'POST') response.writeHead(404).end();
      }).listen(process.env.PORT, process.env.HOST);`,
    });
    const options = [
      '--run',
      'node shop.js',
      '--env',
      'SHOP=open',
      '--request',
      'POST /echo {"id":1}',
      '--service',
      'none',
    ];
    expect(await runHere(init, [folder, ...options])).toMatchObject({ status: 0 });
    expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))).toMatchObject({
      variants: { app: { env: { SHOP: 'open' } } },
      requests: [{ request: 'POST /echo', body: { id: 1 } }],
    });
    rmSync(join(folder, 'stack.json'));
    const { status, stderr } = await runHere(init, [folder, '--service', 'oracle']);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('write one of postgres, mysql, redis, none'),
    ]);
  });

  it.each([
    ['Gemfile', 'Ruby', 'bundle exec puma'],
    ['composer.json', 'PHP', 'php -S {host}:{port}'],
    ['mix.exs', 'Elixir', 'mix phx.server'],
    ['go.mod', 'Go', '{build}/server'],
    ['README.md', undefined, 'uvicorn'],
  ])('gives a hint in the language of a project with a %s', async (file, language, command) => {
    write({ [file]: '' });
    const { status, stderr } = await runHere(init, [folder]);
    expect(status).toBe(2);
    expect(stderr).toContain(
      `nothing in this ${language ? `${language} project` : 'folder'} says how its server starts\n`,
    );
    expect(stderr).toContain(`--run '${command}`);
  });
});

describe.skipIf(!hasProc)('init on a terminal', () => {
  it('ends at a signal while it asks', { timeout: 30_000 }, async () => {
    await using place = new Place();
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const typing = place.startInTerminal(
      `stty cols 100 rows 40; '${process.execPath}' '${COMMAND}' init '${folder}'`,
    );
    await typing.until(() => typing.output.includes('How does the server start?'), 'a question');
    for (const pid of place.pidsOf(`${COMMAND} init ${folder}`)) process.kill(pid, 'SIGTERM');
    expect(await typing.ended).toMatchObject({ status: 130 });
  });

  it(
    'asks four questions, comes back to the one that failed, and writes what worked',
    { timeout: 60_000 },
    async () => {
      await using place = new Place();
      const server = `if (!process.env.SHOP_KEY) throw new Error('SHOP_KEY is required');
    require('node:http').createServer(({ url }, response) => {
      response.writeHead(url.startsWith('/orders') ? 200 : 404).end(url);
    }).listen(process.env.PORT, process.env.HOST, () => console.log('GET /orders -> list'));`;
      write({
        'package.json': PACKAGE.replace('"node server.js"', '"node server.js", "dev": "node old.js"'),
        'server.js': server,
      });
      const typing = place.startInTerminal(
        `stty cols 100 rows 40; '${process.execPath}' '${COMMAND}' init '${folder}'`,
      );
      let seen = 0;
      const answer = async (question: string, keys: string): Promise<void> => {
        await typing.until(() => typing.output.includes(`◆  ${question}`, seen), question);
        seen = typing.output.length;
        typing.type(keys);
      };
      await answer('How does the server start?', '\r');
      await answer('Before each start?', 'node --version\r');
      await answer('What does it need?', '\r');
      await answer('Run this, with your rights?', '\r');
      await answer('What to change?', '\r');
      // Nothing leads back to the question.
      await answer('Which options?', '\u0015\r');
      await answer('What to change?', '\r');
      await answer('Which options?', 'abc\r');
      await answer('Run this, with your rights?', '\r');
      // The second of the requests, after the one that answers, is typed.
      await answer('Which requests?', '\u001B[B \r');
      await answer('Which request?', '\u007F/orders?limit=2\r');
      await answer('Which requests?', '\r');
      const { status } = await typing.ended;
      expect([status, typing.output]).toEqual([0, expect.stringContaining('old.js')]);
      expect(typing.output).toContain('it misses the variable SHOP_KEY');
      expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))).toMatchObject({
        variants: { app: { command: ['node', 'server.js'], env: { SHOP_KEY: 'abc' } } },
        setup: { command: ['node', '--version'] },
        requests: ['GET /orders?limit=2', 'GET /orders'],
      });
      await place.untilGone();
    },
  );
});

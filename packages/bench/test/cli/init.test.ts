/** `bench-http init`: its findings, the manifest that it writes, and the files that it leaves unchanged. */
import { createHash } from 'node:crypto';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findStarts } from 'bench-targets/catalogue/apps/starts';
import { readManifest } from 'bench-targets/catalogue/manifest';
import init from '../../src/commands/init.ts';
import { listPids, readLink } from 'bench-machine/procfs';
import { runHere } from './cli.ts';

const state = vi.hoisted(() => {
  const place = process
    .getBuiltinModule('node:fs')
    .mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/bench-init-state-`);
  process.env['BENCH_STATE'] = place;
  return place;
});
afterAll(() => rmSync(state, { recursive: true }));

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
  response.writeHead({ '/broken': 500, '/mine': 401 }[request.url] ?? 404).end();
}).listen(process.env.PORT, '127.0.0.1');
`;
const PACKAGE = '{ "scripts": { "start": "node server.js" } }';

describe('init', () => {
  it('writes a manifest that it has tried, and changes nothing else', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const before = digests();
    const { status, stdout } = await runHere(init, [folder]);
    expect(status).toBe(0);
    expect(stdout).toContain('found    package.json: scripts.start\n');
    expect(stdout).toContain('left out GET /orders/{id}: no example for the parameter "id"\n');
    expect(stdout).toContain('left out GET /broken: status 500, no content type, 0 bytes\n');
    expect(stdout).toContain('left out GET /mine: status 401, no content type, 0 bytes; it needs a login\n');
    expect(stdout).toContain('assumed  2 requests, from /openapi.json; --get names others\n');
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
    vi.unstubAllEnvs();
    expect(again.stdout).toContain('left out the services: the server does not start');
    expect(JSON.parse(readFileSync(file, 'utf8'))).not.toHaveProperty('services');
    expect(running()).toEqual([]);
  });

  it('never overwrites a manifest', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER, 'stack.json': '{}' });
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/stack\.json exists, and is not overwritten\n.*--output/),
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

  it('refuses a path that the server does not answer', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const { status, stderr } = await runHere(init, [folder, '--get', '/broken']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('error: GET /broken: status 500')]);
    expect(Object.keys(digests())).toHaveLength(2);
  });

  it('says that a path needs a login', async () => {
    write({ 'package.json': PACKAGE, 'server.js': SERVER });
    const { status, stderr } = await runHere(init, [folder, '--get', '/mine']);
    expect(status).toBe(1);
    expect(stderr).toContain('error: GET /mine: status 401');
    expect(stderr).toContain('begin with a path that needs no login: --get; then add `login` and the path');
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

  it('says what is missing in an empty folder', async () => {
    const { status, stderr } = await runHere(init, [folder]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/nothing in the project tells how its server starts\n.*--run/),
    ]);
  });
});

describe('findStarts', () => {
  it.each<[string, Record<string, string>, { command: string[]; framework: string; why: string }[]]>([
    [
      'a FastAPI app',
      {
        'pyproject.toml': 'dependencies = ["fastapi", "uvicorn"]',
        'shop/main.py': 'from fastapi import FastAPI\n\napp: FastAPI = FastAPI(title="x")\n',
        'tests/test_main.py': 'app = FastAPI()\n',
      },
      [
        {
          command: ['uvicorn', 'shop.main:app', '--host', '{host}', '--port', '{port}'],
          framework: 'fastapi',
          why: 'shop/main.py:3: app = FastAPI(…), and uvicorn among the dependencies',
        },
      ],
    ],
    [
      'a Flask app under gunicorn',
      { 'requirements.txt': 'flask==3.0\ngunicorn\n', 'app.py': 'app = Flask(__name__)' },
      [
        {
          command: ['gunicorn', '--bind', '{host}:{port}', 'app:app'],
          framework: 'flask',
          why: 'app.py:1: app = Flask(…), and gunicorn among the dependencies',
        },
      ],
    ],
    [
      'a Litestar app under granian',
      {
        'requirements.txt': 'litestar\ngranian\n',
        'app.py': 'app = Litestar(routes=[])',
      },
      [
        {
          command: ['granian', '--interface', 'asgi', '--host', '{host}', '--port', '{port}', 'app:app'],
          framework: 'litestar',
          why: 'app.py:1: app = Litestar(…), and granian among the dependencies',
        },
      ],
    ],
    [
      'a Procfile',
      {
        Procfile: 'worker: celery\nweb: gunicorn app:app --bind 0.0.0.0:$PORT\n',
        'requirements.txt': 'gunicorn',
      },
      [
        {
          command: ['gunicorn', 'app:app', '--bind', '0.0.0.0:{port}'],
          framework: 'unknown',
          why: 'Procfile: web',
        },
      ],
    ],
    [
      'a Go service',
      {
        'go.mod': 'module x\nrequire github.com/go-chi/chi/v5 v5.1.0\n',
        'cmd/api/main.go': 'package main\n\nfunc main() {}\n',
      },
      [{ command: ['{build}/server'], framework: 'chi', why: 'cmd/api/main.go: package main' }],
    ],
    [
      'a Rust service',
      {
        'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\naxum = "0.8"\n',
        'src/main.rs': 'fn main() {}',
      },
      [{ command: ['{build}/release/shop'], framework: 'axum', why: 'Cargo.toml: the binary shop' }],
    ],
  ])('finds %s', (_what, files, expected) => {
    write(files);
    expect(findStarts(folder).best).toMatchObject(expected);
    expect(findStarts(folder).best).toHaveLength(expected.length);
  });
});

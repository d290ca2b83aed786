import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findWays, readWay, type Way } from '../../../src/catalogue/apps/ways/index.ts';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';
import { writeFiles } from '../../../../bench-lab/testing/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-ways-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Record<string, string | object>): void => writeFiles(folder, files);

const first = (): Way[] => findWays(folder).slice(0, 1);

const UVICORN = ['uvicorn', 'shop:app', '--host', '{host}', '--port', '{port}'];
const PYTHON = { 'requirements.txt': 'fastapi\nuvicorn\n' };

describe('the start of a Node project', () => {
  it.each([
    ['node dist/server.js', 'package-lock.json', [['npm', 'run', 'build']]],
    ['node --enable-source-maps ./build/main.js', 'pnpm-lock.yaml', [['pnpm', 'run', 'build']]],
    ['next start -p $PORT', 'yarn.lock', [['yarn', 'run', 'build']]],
    ['node server.js', 'package-lock.json', []],
  ])('by %s, with %s, is built by %j', (start, lock, build) => {
    write({ [lock]: '', 'package.json': { scripts: { start, build: 'tsc' } } });
    expect(first()).toMatchObject([{ runtime: 'node', build }]);
    expect(readWay(folder, start)).toMatchObject({ runtime: 'node', build });
  });

  it('is built by npm below the lock of another project', () => {
    write({ 'pnpm-lock.yaml': '', 'api/package.json': { scripts: { build: 'tsc' } } });
    expect(readWay(join(folder, 'api'), 'node dist/server.js').build).toEqual([['npm', 'run', 'build']]);
  });

  it('is not built without a script for it', () => {
    write({ 'package.json': { scripts: { start: 'node dist/server.js' } } });
    expect(first()).toMatchObject([{ build: [] }]);
  });

  it.each([
    [{ start: 'nest start', 'start:prod': 'node dist/main' }, ['node', 'dist/main']],
    [{ start: 'npm run build && node dist/a.js', build: 'tsc' }, ['node', 'dist/a.js']],
    [{ dev: 'node --watch src/a.ts db.json' }, ['node', 'src/a.ts', 'db.json']],
    [{ start: 'tsx watch src/a.ts' }, ['tsx', 'src/a.ts']],
    [{ start: 'nodemon -e ts --exec ts-node a.ts' }, ['ts-node', 'a.ts']],
    [{ start: 'nodemon -L src/a.js' }, ['node', 'src/a.js']],
    [{ start: 'npm run serve --', serve: 'node a.js' }, ['node', 'a.js']],
    [{ start: 'cross-env NODE_ENV=production node a.js' }, ['node', 'a.js']],
  ])('is, of the scripts %j, %j', (scripts, command) => {
    write({ 'package.json': { scripts } });
    expect(first()).toMatchObject([{ command }]);
  });

  it('takes the options of its server for its address', () => {
    write({ 'package.json': { scripts: { dev: 'wrangler dev src/index.ts' } } });
    const command = ['wrangler', 'dev', 'src/index.ts', '--ip', '{host}', '--port', '{port}'];
    expect(first()).toMatchObject([{ command, isForDevelopment: true }]);
  });

  it('is a server of development if there is no other', () => {
    write({ 'package.json': { scripts: { start: 'nest start --watch' } } });
    expect(first()).toMatchObject([{ command: ['nest', 'start'], isForDevelopment: true }]);
  });

  it.each([
    'nx serve',
    'vite --port 80',
    'concurrently "tsc -w" "node a.js"',
    'next dev',
    'tsc --watch',
    'docusaurus start',
    'vitepress dev docs',
    'pm2 start a.js',
    'npm run serve',
  ])('is never a watcher, a bundler or the server of its documents: %s', (start) => {
    write({ 'package.json': { scripts: { start, serve: 'mkdocs serve' } } });
    expect(findWays(folder)).toEqual([]);
  });

  it('is not that of a folder with its documentation', () => {
    write({
      'website/package.json': { scripts: { start: 'node docs.js' } },
      'website/docs.js': 'a.listen(process.env.PORT)',
    });
    expect(findWays(folder)).toEqual([]);
  });
});

describe('the start that an image names', () => {
  it.each([
    ['CMD ["uvicorn", "shop:app", "--host", "0.0.0.0", "--port", "80"]', UVICORN],
    ['CMD uvicorn shop:app --host=0.0.0.0', UVICORN],
    ['ENTRYPOINT ["tini", "--"]\nCMD ["uvicorn", "shop:app"]', UVICORN],
    ['CMD exec uvicorn shop:app --host ${HOST:-0.0.0.0} --port ${PORT:-80}', UVICORN],
    ['CMD uv run --no-dev uvicorn shop:app', UVICORN],
    ['CMD ["sh", "-c", "uvicorn shop:app --reload"]', UVICORN],
    [
      'CMD gunicorn -w 4 -b :80 shop:app',
      ['gunicorn', '-w', '{workers}', 'shop:app', '--bind', '{host}:{port}'],
    ],
    [
      'CMD python manage.py runserver 0.0.0.0:80',
      ['python', 'manage.py', 'runserver', '{host}:{port}', '--noreload'],
    ],
    ['FROM a AS base\nCMD ["uvicorn", "old:app"]\nFROM base\nCMD ["uvicorn", "shop:app"]', UVICORN],
  ])('by %j is %j', (text, command) => {
    write({ ...PYTHON, 'manage.py': '', Dockerfile: `FROM python\n${text}\n` });
    expect(first()).toMatchObject([{ command, runtime: 'python', folder: '' }]);
  });

  it.each([
    ['CMD cron && exec apache2 -D FOREGROUND\nENTRYPOINT ["./Docker/entrypoint.sh"]', []],
    ['ENTRYPOINT ["./Docker/entrypoint.sh"]\nCMD ["uvicorn", "shop:app"]', [UVICORN]],
    ['ENTRYPOINT ["sh", "/srv/Docker/entrypoint.sh"]\nCMD uvicorn shop:app', [UVICORN]],
    ['ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]\nCMD ["uvicorn", "shop:app"]', [UVICORN]],
    ['ENTRYPOINT ["python", "Docker/prepare.py"]\nCMD ["uvicorn", "shop:app"]', [UVICORN]],
    ['ENTRYPOINT ["python", "Docker/entrypoint.py"]', []],
    ['ENTRYPOINT ./Docker/endless.sh', []],
    ['CMD ["/usr/local/bin/uvicorn", "shop:app"]', [UVICORN]],
    ['CMD rm -rf /srv && cp a /etc && uvicorn shop:app', [UVICORN]],
    ['CMD ["../../../bin/cp", "a", "/etc"]', []],
    ['CMD ["python", "made-by-the-image.py"]', []],
  ])('by %j is read for the command that it ends in', (text, commands) => {
    write({
      ...PYTHON,
      Dockerfile: `FROM debian\n${text}\n`,
      'Docker/entrypoint.sh': '#!/bin/sh\nphp prepare.php\nsed -i s/a/b/ /etc/passwd\nexec "$@"\n',
      'Docker/endless.sh': '#!/bin/sh\ncp a /etc\nwhile true; do sleep 1; done | tee log\n',
      'Docker/entrypoint.py': 'import os\n',
      'Docker/prepare.py': 'import os\n',
    });
    expect(findWays(folder).map(({ command }) => command)).toEqual(commands);
    expect(findWays(folder).flatMap(({ setup = [] }) => setup)).toEqual([]);
  });

  it('has the plain variables of the compose file that builds its image', () => {
    write({
      ...PYTHON,
      Dockerfile: 'FROM python\nENV MODE=image\nENV SHOP=open\nCMD ["uvicorn", "shop:app"]\n',
      'docker-compose.yml':
        'services:\n  web:\n    build: .\n    environment:\n      - MODE=compose\n      - ALLOWED_HOSTS=*\n      - DATABASE_URL=postgres://db/shop\n      - API_TOKEN=x\n',
    });
    const env = { MODE: 'compose', SHOP: 'open', ALLOWED_HOSTS: '*' };
    expect(first()).toMatchObject([{ command: UVICORN, env }]);
    expect(Object.keys(findWays(folder)[0]!.env)).toEqual(Object.keys(env));
  });

  it('starts in the folder of its working directory', () => {
    write({
      'uv.lock': '',
      'package.json': '{}',
      'api/pyproject.toml': '[project]\ndependencies = ["fastapi[standard]"]\n',
      'api/Dockerfile': 'FROM python\nWORKDIR /srv/api\nCMD ["fastapi", "run", "--workers", "4"]\n',
    });
    expect(first()).toMatchObject([
      {
        folder: 'api',
        command: ['fastapi', 'run', '--workers', '{workers}', '--host', '{host}', '--port', '{port}'],
      },
    ]);
  });

  it('is not that of a web server beside the project', () => {
    write({ ...PYTHON, Dockerfile: 'FROM nginx\nCMD ["nginx", "-g", "daemon off;"]\n' });
    expect(first()).toEqual([]);
  });
});

describe('the start of a Python project', () => {
  it.each<[string, Record<string, string>, object]>([
    [
      'a factory',
      {
        'requirements.txt': 'flask\ngunicorn\n',
        'shop/__init__.py': 'from flask import Flask\ndef create_app(config=None):\n  return Flask()\n',
      },
      { command: ['gunicorn', 'shop:create_app()', '--bind', '{host}:{port}'] },
    ],
    [
      'a factory without a server among the dependencies',
      {
        'requirements.txt': 'flask\n',
        'shop.py': 'from flask import Flask\ndef create_app():\n  return Flask()\n',
      },
      {
        command: ['flask', '--app', 'shop:create_app', 'run', '--host', '{host}', '--port', '{port}'],
        isForDevelopment: true,
      },
    ],
    [
      'a Django project',
      {
        'requirements.txt': 'django\ngunicorn\n',
        'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n',
        'shop/wsgi.py': '',
      },
      {
        command: ['gunicorn', 'shop.wsgi:application', '--bind', '{host}:{port}'],
      },
    ],
    [
      'a package that serves its app itself',
      {
        'requirements.txt': 'aiohttp\n',
        'shop/__init__.py': '',
        'shop/main.py': 'from aiohttp import web\n\ndef main():\n  web.run_app(app)\n',
        'shop/__main__.py': 'main()\n',
      },
      { command: ['python', '-m', 'shop'], why: 'shop/main.py:4: web.run_app(app)' },
    ],
    [
      'a file that serves its app itself',
      { 'shop.py': 'from http.server import *\nif __name__ == "__main__":\n  http.serve_forever()\n' },
      { command: ['python', 'shop.py'] },
    ],
    [
      'the program of a package that fills no database',
      { 'pyproject.toml': '[project]\n[project.scripts]\ninit_db = "shop:init"\nstart = "shop:run"\n' },
      { command: ['start'] },
    ],
    [
      'the program of a package',
      { 'pyproject.toml': '[project]\ndependencies = ["x"]\n[project.scripts]\nshop = "shop:cli"\n' },
      { command: ['shop'], runtime: 'python' },
    ],
    [
      'a Procfile with a release step, and one before the server',
      {
        'requirements.txt': 'gunicorn\n',
        Procfile:
          'release: python manage.py migrate\nweb: python fill.py; gunicorn shop:app --bind 0.0.0.0:$PORT\n',
      },
      {
        command: ['gunicorn', 'shop:app', '--bind', '{host}:{port}'],
        setup: ['sh', '-c', 'python manage.py migrate && python fill.py'],
      },
    ],
    [
      'a Procfile beside a compose file for development',
      {
        'requirements.txt': 'django\ngunicorn\n',
        'compose.yaml':
          'services:\n  beats:\n    build: .\n    command: celery -A shop beat\n  web:\n    build: .\n    command: python manage.py runserver\n',
        Procfile: 'web: gunicorn shop.wsgi\n',
      },
      { command: ['gunicorn', 'shop.wsgi', '--bind', '{host}:{port}'], isForDevelopment: false },
    ],
    [
      'the command of a compose file',
      {
        ...PYTHON,
        'compose.yaml':
          'services:\n  web:\n    build: .\n    command: uvicorn shop:app --port 80\n    environment:\n      MODE: fast\n      SECRET_KEY: x\n',
      },
      { command: UVICORN, env: { MODE: 'fast' } },
    ],
  ])('is %s', (_what, files, expected) => {
    write(files);
    expect(first()).toMatchObject([expected]);
  });

  it('is in the folder of its package, not of the one above', () => {
    const pyproject = '[project]\ndependencies = ["fastapi", "uvicorn"]\n';
    write({
      'pyproject.toml': pyproject,
      'services/api/pyproject.toml': pyproject,
      'services/api/shop/main.py': 'app = FastAPI()\n',
    });
    expect(findWays(folder)).toMatchObject([
      { folder: 'services/api', command: expect.arrayContaining(['shop.main:app']) },
    ]);
  });

  it('lists several that are as good, and those that are further from production', () => {
    write({
      ...PYTHON,
      'a.py': 'app = FastAPI()\n',
      'b.py': 'app = FastAPI()\n',
      'pyproject.toml': '[project]\n[project.scripts]\nshop = "shop:run"\n',
    });
    expect(findWays(folder).map(({ command }) => command.slice(0, 2))).toEqual([
      ['uvicorn', 'a:app'],
      ['uvicorn', 'b:app'],
      ['shop'],
    ]);
  });
});

describe('the start of a program that is built', () => {
  it.each<[string, Record<string, string>, object]>([
    [
      'a Go service',
      {
        'go.mod': 'module x\nrequire github.com/go-chi/chi/v5 v5.1.0\n',
        'cmd/api/main.go': 'package main // import "x"\n\nfunc main() {}\n',
        'internal/words/main.go': 'package main\n\nfunc main() {}\n',
        'plugin/testing/broken/main.go': 'package main\n\nfunc main() {}\n',
      },
      { command: ['{build}/server'], why: 'cmd/api/main.go: package main' },
    ],
    [
      'a Java service',
      {
        'pom.xml': '<project><artifactId>shop</artifactId></project>\n',
        'src/main/java/Shop.java': 'class Shop {\n  public static void main(String[] args) {}\n}\n',
      },
      {
        command: ['java', '-cp', 'target/classes:target/dependency/*', 'Shop'],
        language: 'java',
        why: 'src/main/java/Shop.java: the main class Shop',
      },
    ],
    [
      'a Rust service',
      {
        'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\naxum = "0.8"\n',
        'src/main.rs': 'fn main() {}',
      },
      { command: ['{build}/release/shop'], why: 'Cargo.toml: the binary shop' },
    ],
  ])('is that of %s', (_what, files, expected) => {
    write(files);
    expect(first()).toMatchObject([expected]);
  });
});

describe('a command line of the user', () => {
  it('ends all guessing', () => {
    write({ 'package.json': { scripts: { start: 'while true; do node a.js; done' } } });
    expect(readWay(folder, 'node b.js')).toMatchObject({ command: ['node', 'b.js'], runtime: 'node' });
  });

  it('is refused if only a shell understands it', () => {
    write({ 'package.json': '{}' });
    expect(() => readWay(folder, 'node a.js | tee log')).toThrow('Bench starts no shell');
  });
});

it('the start of a Deno project is its task', () => {
  write({ 'deno.json': { tasks: { start: 'deno run -A main.ts', dev: 'deno run -A --watch main.ts' } } });
  expect(first()).toMatchObject([
    { command: ['deno', 'run', '-A', 'main.ts'], runtime: 'node', why: 'deno.json: tasks.start' },
  ]);
});

it('the address of Waitress precedes its app', () => {
  const command = ['waitress-serve', '--listen', '{host}:{port}', 'shop:app'];
  expect(readWay(folder, 'waitress-serve shop:app')).toMatchObject({ command });
});

describe('the start of a program that Bench builds', () => {
  const build = [['go', 'build', '-o', '{build}/server', './']];
  beforeEach(() => {
    writeFileSync(join(folder, 'go.mod'), 'module shop\n');
    writeFileSync(join(folder, 'main.go'), 'package main\n\nfunc main() {}\n');
  });

  it('keeps its build with other arguments', () => {
    expect(readWay(folder, '{build}/server -addr {host}:{port}')).toMatchObject({
      command: ['{build}/server', '-addr', '{host}:{port}'],
      build,
      language: 'go',
    });
  });

  it('is one of several by its name', () => {
    rmSync(join(folder, 'main.go'));
    const main = 'package main\n\nfunc main() {}\n';
    write({ 'cmd/api/main.go': main, 'cmd/worker/main.go': main, 'cmd/a-migrate/main.go': main });
    expect(findWays(folder)[0]?.command).toEqual(['{build}/api']);
    expect(readWay(folder, '{build}/worker')).toMatchObject({
      build: [['go', 'build', '-o', '{build}/worker', './cmd/worker']],
    });
  });

  it('is refused if nothing builds it', () => {
    const error = errorOf(() => readWay(folder, '{build}/shop'));
    expect(error.message).toBe('--run {build}/shop: nothing in the project says how {build}/shop is built');
    expect(error.hint).toBe('Bench builds {build}/server');
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathsInFiles, pathsInLog } from '../../../src/catalogue/apps/routes.ts';
import { describeStart, findStarts } from '../../../src/catalogue/apps/starts/index.ts';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-starts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Record<string, string | object>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

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
    expect(findStarts(folder).best).toMatchObject([{ runtime: 'node', build }]);
    expect(describeStart(folder, start)).toMatchObject({ runtime: 'node', build });
  });

  it('in a workspace is built after the packages that it imports, in their order', () => {
    const build = 'tsc -p .';
    write({
      'pnpm-lock.yaml': 'importers:\n\n  apps/api:\n',
      'package.json': { name: 'whole', scripts: { build: 'turbo build' } },
      'libs/tariff/package.json': {
        name: '@x/tariff',
        scripts: { build },
        dependencies: { '@x/money': 'workspace:*' },
      },
      'libs/money/package.json': {
        name: '@x/money',
        scripts: { build },
        dependencies: { '@x/tariff': 'workspace:*' },
      },
      'libs/plain/package.json': { name: '@x/plain' },
      'libs/other/package.json': { name: '@x/other', scripts: { build } },
      'apps/api/package.json': {
        scripts: { build, start: 'node dist/server.js' },
        dependencies: { '@x/plain': 'workspace:*', '@x/tariff': 'workspace:*', fastify: '5' },
      },
    });
    expect(describeStart(join(folder, 'apps/api'), 'node dist/server.js').build).toEqual([
      ['pnpm', '-C', '../../libs/money', 'run', 'build'],
      ['pnpm', '-C', '../../libs/tariff', 'run', 'build'],
      ['pnpm', 'run', 'build'],
    ]);
  });

  it('is built by npm below the lock of another project', () => {
    write({ 'pnpm-lock.yaml': '', 'api/package.json': { scripts: { build: 'tsc' } } });
    expect(describeStart(join(folder, 'api'), 'node dist/server.js').build).toEqual([
      ['npm', 'run', 'build'],
    ]);
  });

  it('gets its address before the words that are not its own', () => {
    write({ 'package.json': { scripts: { dev: 'wrangler dev a.ts -- --name x' } } });
    const command = ['wrangler', 'dev', 'a.ts', '--ip', '{host}', '--port', '{port}', '--', '--name', 'x'];
    expect(findStarts(folder).best).toMatchObject([{ command }]);
  });

  it('is not built without a script for it', () => {
    write({ 'package.json': { scripts: { start: 'node dist/server.js' } } });
    expect(findStarts(folder).best).toMatchObject([{ build: [] }]);
  });

  it.each([
    [{ start: 'nest start', 'start:prod': 'node dist/main' }, ['node', 'dist/main']],
    [{ start: 'npm run build && node dist/a.js', build: 'tsc' }, ['node', 'dist/a.js']],
    [{ dev: 'node --watch src/a.ts db.json' }, ['node', 'src/a.ts', 'db.json']],
    [{ start: 'tsx watch src/a.ts' }, ['tsx', 'src/a.ts']],
    [{ start: 'npm run serve --', serve: 'node a.js' }, ['node', 'a.js']],
    [{ start: 'cross-env NODE_ENV=production node a.js' }, ['node', 'a.js']],
    [{ start: 'dotenv -e .env -- npx tsx a.ts' }, ['tsx', 'a.ts']],
  ])('is, of the scripts %j, %j', (scripts, command) => {
    write({ 'package.json': { scripts } });
    expect(findStarts(folder).best).toMatchObject([{ command, isForDevelopment: false }]);
  });

  it('keeps the variables and the steps before the server', () => {
    const start = 'NODE_ENV=production npm run build && npm run db:migrate && node dist/a.js';
    write({ 'package.json': { scripts: { start, build: 'tsc', 'db:migrate': 'knex migrate:latest' } } });
    expect(findStarts(folder).best).toMatchObject([
      {
        command: ['node', 'dist/a.js'],
        env: { NODE_ENV: 'production' },
        build: [['npm', 'run', 'build']],
        setup: ['npm', 'run', 'db:migrate'],
      },
    ]);
  });

  it('takes the options of its server for its address', () => {
    write({ 'package.json': { scripts: { dev: 'wrangler dev src/index.ts' } } });
    const command = ['wrangler', 'dev', 'src/index.ts', '--ip', '{host}', '--port', '{port}'];
    expect(findStarts(folder).best).toMatchObject([{ command, isForDevelopment: true }]);
  });

  it('is a server of development if there is no other', () => {
    write({ 'package.json': { scripts: { start: 'nest start --watch' } } });
    expect(findStarts(folder).best).toMatchObject([{ command: ['nest', 'start'], isForDevelopment: true }]);
  });

  it.each([
    'nx serve',
    'vite --port 80',
    'nodemon --exec ts-node a.ts',
    'concurrently "tsc -w" "node a.js"',
    'next dev',
    'tsc --watch',
    'docusaurus start',
    'vitepress dev docs',
    'pm2 start a.js',
    'npm run serve',
  ])('is never a watcher, a bundler or the server of its documents: %s', (start) => {
    write({ 'package.json': { scripts: { start, serve: 'mkdocs serve' } } });
    const { best, others, beside } = findStarts(folder);
    expect([best, others]).toEqual([[], []]);
    expect(beside[0]).toMatchObject({ why: 'package.json: scripts.start' });
  });

  it('is not that of a folder with its documentation', () => {
    write({
      'website/package.json': { scripts: { start: 'node docs.js' } },
      'website/docs.js': 'a.listen(process.env.PORT)',
    });
    expect(findStarts(folder)).toEqual({ best: [], others: [], beside: [] });
  });
});

describe('the start that an image names', () => {
  it.each([
    ['CMD ["uvicorn", "shop:app", "--host", "0.0.0.0", "--port", "80"]', UVICORN],
    ['CMD uvicorn shop:app --host=0.0.0.0', ['uvicorn', 'shop:app', '--host={host}', '--port', '{port}']],
    ['ENTRYPOINT ["tini", "--"]\nCMD ["uvicorn", "shop:app"]', UVICORN],
    ['CMD exec uvicorn shop:app --host ${HOST:-0.0.0.0} --port ${PORT:-80}', UVICORN],
    ['CMD uv run --no-dev uvicorn shop:app', UVICORN],
    ['CMD ["sh", "-c", "uvicorn shop:app --reload"]', UVICORN],
    ['CMD gunicorn -w 4 -b :80 shop:app', ['gunicorn', '-w', '{workers}', '-b', '{host}:{port}', 'shop:app']],
    [
      'CMD python manage.py runserver 0.0.0.0:80',
      ['python', 'manage.py', 'runserver', '{host}:{port}', '--noreload'],
    ],
    ['FROM a AS base\nCMD ["uvicorn", "old:app"]\nFROM base\nCMD ["uvicorn", "shop:app"]', UVICORN],
  ])('by %j is %j', (text, command) => {
    write({ ...PYTHON, Dockerfile: `FROM python\n${text}\n` });
    expect(findStarts(folder).best).toMatchObject([{ command, runtime: 'python', folder: '' }]);
  });

  it('has the steps of its script, and the variables and packages of its image', () => {
    write({
      'requirements.txt': 'flask\n',
      'boot.sh':
        '#!/bin/sh\nwhile true; do\n  flask db upgrade\n  sleep 5\ndone\nexec gunicorn -b :5000 shop:app\n',
      Dockerfile:
        'FROM python\nENV FLASK_APP=shop.py\nENV PORT 80\nRUN pip install gunicorn pymysql\nENTRYPOINT ["./boot.sh"]\n',
    });
    expect(findStarts(folder).best).toMatchObject([
      {
        command: ['gunicorn', '-b', '{host}:{port}', 'shop:app'],
        env: { FLASK_APP: 'shop.py' },
        setup: ['flask', 'db', 'upgrade'],
        packages: ['gunicorn'],
      },
    ]);
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
    ['CMD ["/bin/cp", "a", "/etc"]', []],
    ['CMD ["../../../bin/cp", "a", "/etc"]', []],
  ])('by %j is read for the command that it ends in', (text, commands) => {
    write({
      ...PYTHON,
      Dockerfile: `FROM debian\n${text}\n`,
      'Docker/entrypoint.sh': '#!/bin/sh\nphp prepare.php\nsed -i s/a/b/ /etc/passwd\nexec "$@"\n',
      'Docker/endless.sh': '#!/bin/sh\ncp a /etc\nwhile true; do sleep 1; done | tee log\n',
      'Docker/entrypoint.py': 'import os\n',
      'Docker/prepare.py': 'import os\n',
    });
    const { best, others } = findStarts(folder);
    expect([...best, ...others].map(({ command }) => command)).toEqual(commands);
    expect(best.flatMap(({ setup = [] }) => setup)).toEqual([]);
  });

  it('has the plain variables of the compose file that builds its image', () => {
    write({
      ...PYTHON,
      Dockerfile: 'FROM python\nENV MODE=image\nENV SHOP=open\nCMD ["uvicorn", "shop:app"]\n',
      'docker-compose.yml':
        'services:\n  web:\n    build: .\n    environment:\n      - MODE=compose\n      - ALLOWED_HOSTS=*\n      - DATABASE_URL=postgres://db/shop\n      - API_TOKEN=x\n',
    });
    const env = { MODE: 'compose', SHOP: 'open', ALLOWED_HOSTS: '*' };
    expect(findStarts(folder).best).toMatchObject([{ command: UVICORN, env }]);
    expect(Object.keys(findStarts(folder).best[0]!.env)).toEqual(Object.keys(env));
  });

  it('starts in the folder of its working directory', () => {
    write({
      'uv.lock': '',
      'package.json': '{}',
      'api/pyproject.toml': '[project]\ndependencies = ["fastapi[standard]"]\n',
      'api/Dockerfile': 'FROM python\nWORKDIR /srv/api\nCMD ["fastapi", "run", "--workers", "4"]\n',
    });
    expect(findStarts(folder).best).toMatchObject([
      {
        folder: 'api',
        command: ['fastapi', 'run', '--workers', '{workers}', '--host', '{host}', '--port', '{port}'],
      },
    ]);
  });

  it('names what was copied by its path in the project', () => {
    write({
      'package.json': { scripts: { build: 'tsc' } },
      Dockerfile: 'FROM node\nWORKDIR /app\nCOPY dist/api api\nCMD ["node", "api"]\n',
    });
    expect(findStarts(folder).best).toMatchObject([
      { command: ['node', 'dist/api'], build: [['npm', 'run', 'build']] },
    ]);
  });

  it('is not that of a web server beside the project', () => {
    write({ ...PYTHON, Dockerfile: 'FROM nginx\nCMD ["nginx", "-g", "daemon off;"]\n' });
    expect(findStarts(folder).best).toEqual([]);
  });
});

describe('the start of a Python project', () => {
  it.each<[string, Record<string, string>, object]>([
    [
      'an app that a function makes',
      { ...PYTHON, 'shop/main.py': 'from fastapi import FastAPI\n\napp = get_application()\n' },
      { command: ['uvicorn', 'shop.main:app', '--host', '{host}', '--port', '{port}'] },
    ],
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
        framework: 'django',
        setup: ['python', 'manage.py', 'migrate', '--noinput'],
      },
    ],
    [
      'a Django project whose pages name their static files by a manifest',
      {
        'requirements.txt': 'django\ngunicorn\n',
        Procfile: 'web: gunicorn shop.wsgi\n',
        'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n',
        'shop/settings.py':
          'STATIC_ROOT = "static"\nSTORAGES = {"staticfiles": "whitenoise.CompressedManifestStaticFilesStorage"}\n',
      },
      {
        command: ['gunicorn', 'shop.wsgi', '--bind', '{host}:{port}'],
        setup: ['sh', '-c', 'python manage.py migrate --noinput && python manage.py collectstatic --noinput'],
      },
    ],
    [
      'an app of Quart, which brings its server',
      { 'requirements.txt': 'quart\n', 'shop.py': 'app = Quart(__name__)\n' },
      { command: ['hypercorn', 'shop:app', '--bind', '{host}:{port}'] },
    ],
    [
      'a package that serves its app itself',
      {
        'requirements.txt': 'aiohttp\n',
        'shop/__init__.py': '',
        'shop/main.py': 'def main():\n  web.run_app(app)\n',
        'shop/__main__.py': 'main()\n',
      },
      { command: ['python', '-m', 'shop'], framework: 'aiohttp', why: 'shop/main.py:2: web.run_app(…)' },
    ],
    [
      'a file that serves its app itself',
      { 'requirements.txt': 'aiohttp\n', 'shop.py': 'if __name__ == "__main__":\n  web.run_app(app)\n' },
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
      'a Procfile with a release step',
      {
        'requirements.txt': 'gunicorn\n',
        Procfile: 'release: python manage.py migrate\nweb: gunicorn shop:app --bind 0.0.0.0:$PORT\n',
      },
      {
        command: ['gunicorn', 'shop:app', '--bind', '{host}:{port}'],
        setup: ['python', 'manage.py', 'migrate'],
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
      { command: ['uvicorn', 'shop:app', '--port', '{port}', '--host', '{host}'], env: { MODE: 'fast' } },
    ],
  ])('is %s', (_what, files, expected) => {
    write(files);
    const { best } = findStarts(folder);
    expect(best).toHaveLength(1);
    expect(best[0]).toMatchObject(expected);
  });

  it('is in the folder of its package, not of the one above', () => {
    const pyproject = '[project]\ndependencies = ["fastapi", "uvicorn"]\n';
    write({
      'pyproject.toml': pyproject,
      'services/api/pyproject.toml': pyproject,
      'services/api/shop/main.py': 'app = FastAPI()\n',
    });
    const { best, others } = findStarts(folder);
    expect(best).toMatchObject([
      { folder: 'services/api', command: expect.arrayContaining(['shop.main:app']) },
    ]);
    expect(others).toEqual([]);
  });

  it('has no steps of Django for another manage.py', () => {
    write({
      'requirements.txt': 'flask\ngunicorn\n',
      'manage.py': 'manager.run()\n',
      Procfile: 'web: gunicorn shop:app\n',
    });
    expect(findStarts(folder).best[0]).not.toHaveProperty('setup');
  });

  it('lists several that are as good, and those that are further from production', () => {
    write({
      ...PYTHON,
      'a.py': 'app = FastAPI()\n',
      'b.py': 'app = FastAPI()\n',
      'pyproject.toml': '[project]\n[project.scripts]\nshop = "shop:run"\n',
    });
    const { best, others } = findStarts(folder);
    expect(best.map(({ command }) => command[1])).toEqual(['a:app', 'b:app']);
    expect(others.map(({ command }) => command)).toEqual([['shop']]);
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
      { command: ['{build}/server'], framework: 'chi', why: 'cmd/api/main.go: package main' },
    ],
    [
      'the program of a Go module that its image builds',
      {
        'go.mod': 'module x\n',
        'cmd/api/main.go': 'package main\n\nfunc main() {}\n',
        'cmd/worker/main.go': 'package main\n\nfunc main() {}\n',
        Dockerfile:
          'FROM golang AS build\nRUN go build -o /server ./cmd/api\nFROM scratch\nCMD ["/server"]\n',
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
      { command: ['{build}/release/shop'], framework: 'axum', why: 'Cargo.toml: the binary shop' },
    ],
  ])('is that of %s', (_what, files, expected) => {
    write(files);
    const { best } = findStarts(folder);
    expect(best).toHaveLength(1);
    expect(best[0]).toMatchObject(expected);
  });
});

describe('a command line of the user', () => {
  it('ends all guessing', () => {
    write({ 'package.json': { scripts: { start: 'while true; do node a.js; done' } } });
    expect(describeStart(folder, 'node b.js')).toMatchObject({ command: ['node', 'b.js'], runtime: 'node' });
  });

  it('is refused if only a shell understands it', () => {
    write({ 'package.json': '{}' });
    expect(() => describeStart(folder, 'node a.js | tee log')).toThrow('Bench starts no shell');
  });
});

describe('the routes of a project', () => {
  it('are those that its log lists', () => {
    const log = [
      '[GIN-debug] GET    /api/ping/   --> main.main.func1 (2 handlers)',
      '[GIN-debug] POST   /api/users   --> main.create (2 handlers)',
      '[Nest] LOG [RouterExplorer] Mapped {/cats/:id, GET} route',
      '[Nest] LOG [RouterExplorer] Mapped {/cats, GET} route +1ms',
    ];
    expect(pathsInLog(log.join('\n')).map(({ path }) => path)).toEqual(['/api/ping/', '/cats']);
  });

  it.each<[string, string, string[]]>([
    ['a.py', '@app.get("/orders")\n@app.get("/orders/{id}")\n@app.post("/pay")\n', ['/orders']],
    ['a.js', `app.get('/orders', list); app.get('/logout', out); app.get('port')`, ['/orders']],
    ['a.go', 'mux.HandleFunc("GET /orders", list)\nr.GET("/items/:id", one)', ['/orders']],
    [
      'a.py',
      'Route("/orders", list), Route("/pay", pay, methods=["POST"]), WebSocketRoute("/ws", ws)',
      ['/orders'],
    ],
    ['a.py', 'app.add_routes([web.get("/orders", list), web.post("/pay", pay)])', ['/orders']],
    ['a.py', 'app.add_route("/orders", Orders())', ['/orders']],
    ['a.py', '@route("/orders")\n@post("/pay")', ['/orders']],
    ['a.py', 'Application([(r"/orders", Orders), (r"/items/([0-9]+)", Item)])', ['/orders']],
    ['a.py', 'if self.path == "/orders":', ['/orders']],
    ['a.js', `if (new URL(request.url, 'http://a').pathname === '/orders')`, ['/orders']],
    ['a.pl', `if ($env->{PATH_INFO} eq '/orders') {`, ['/orders']],
    ['a.php', `if ($_SERVER['REQUEST_URI'] === '/orders') {`, ['/orders']],
    ['src/main/java/com/example/Shop.java', 'server.createContext("/orders", this::list);', ['/orders']],
    ['a.rs', '.route("/orders", get(list)).route("/pay", post(pay))', ['/orders']],
    ['a.rs', '.route("/orders", post(make).get(shop::list))', ['/orders']],
    ['src/main/java/com/example/Shop.java', '@GetMapping("/orders")\n@GetMapping("/{id}")', ['/orders']],
    ['example/a.js', `app.get('/orders', list)`, []],
    ['urls.py', 'urlpatterns = [path("orders/", list), path("orders/<int:id>/", one)]', ['/orders/']],
  ])('of %s with %j are %j', (file, text, paths) => {
    write({ [file]: text });
    expect(pathsInFiles(folder).map(({ path }) => path)).toEqual(paths);
  });

  it('of Django are resolved through the modules and routers that its urls include', () => {
    write({
      'shop/urls.py':
        'urlpatterns = [\n  path("", home),\n  path("api/", include(("shop.orders.urls", "orders"))),\n  path("v2/", include(router.urls)),\n]\nrouter.register(r"items", Items)\n',
      'shop/orders/urls.py': 'urlpatterns = [path("orders/", list), path("<int:id>/", one)]\n',
    });
    expect(pathsInFiles(folder).map(({ path }) => path)).toEqual(['/', '/api/orders/', '/v2/items/']);
  });
});

it.each([
  ["import './routes.ts';", [['node', 'a.ts']]],
  ["import './routes';", []],
  ["import { routes } from './routes.js';", []],
  ['@Module({})\nclass Shop {}', []],
])('a TypeScript source that listens is a start if Node itself can run it: %j', (text, commands) => {
  write({ 'package.json': {}, 'a.ts': `${text}\nserver.listen(process.env.PORT);\n` });
  expect(findStarts(folder).best.map(({ command }) => command)).toEqual(commands);
});

it('the start of a Deno project is its task', () => {
  write({ 'deno.json': { tasks: { start: 'deno run -A main.ts', dev: 'deno run -A --watch main.ts' } } });
  expect(findStarts(folder).best).toMatchObject([
    { command: ['deno', 'run', '-A', 'main.ts'], runtime: 'node', why: 'deno.json: tasks.start' },
  ]);
});

it('the address of Waitress precedes its app', () => {
  const command = ['waitress-serve', '--listen={host}:{port}', 'shop:app'];
  expect(describeStart(folder, 'waitress-serve shop:app')).toMatchObject({ command });
});

describe('the start of a program that Bench builds', () => {
  const build = [['go', 'build', '-o', '{build}/server', './']];
  beforeEach(() => {
    writeFileSync(join(folder, 'go.mod'), 'module shop\n');
    writeFileSync(join(folder, 'main.go'), 'package main\n\nfunc main() {}\n');
  });

  it('keeps its build with other arguments', () => {
    expect(describeStart(folder, '{build}/server -addr {host}:{port}')).toMatchObject({
      command: ['{build}/server', '-addr', '{host}:{port}'],
      build,
      language: 'go',
      framework: 'net/http',
    });
  });

  it('is one of several by its name', () => {
    rmSync(join(folder, 'main.go'));
    const main = 'package main\n\nfunc main() {}\n';
    write({ 'cmd/api/main.go': main, 'cmd/worker/main.go': main });
    expect(findStarts(folder).best.map(({ command }) => command)).toEqual([
      ['{build}/api'],
      ['{build}/worker'],
    ]);
    expect(describeStart(folder, '{build}/worker')).toMatchObject({
      build: [['go', 'build', '-o', '{build}/worker', './cmd/worker']],
    });
  });

  it('is refused if nothing builds it', () => {
    const error = errorOf(() => describeStart(folder, '{build}/shop'));
    expect(error.message).toBe('--run {build}/shop: nothing in the project says how {build}/shop is built');
    expect(error.hint).toBe('Bench builds {build}/server');
  });
});

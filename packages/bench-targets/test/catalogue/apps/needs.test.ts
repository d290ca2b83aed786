import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findForeign, findNeeds } from '../../../src/catalogue/apps/needs.ts';
import { describeStart } from '../../../src/catalogue/apps/starts/index.ts';
import { withPort } from '../../../src/catalogue/apps/variables.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-needs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const needs = (files: Record<string, string>, env = {}): string[] => {
  write(files);
  return findNeeds(folder, '', env).map(({ name, service, env: set, why }) => {
    const use = 'use' in service ? service.use : service.command[0];
    const words = Object.entries(set).map(([variable, value]) => `${variable}=${value}`);
    return `${name} is ${use} by ${why}: ${words.join(' ')}`;
  });
};

const parts = (prefix: string, name = 'DATABASE'): string =>
  `${prefix}HOST={db.host} ${prefix}PORT={db.port} ${prefix}USER={db.user} ${prefix}PASSWORD={db.password} ${prefix}${name}={db.name}`;
const settings = (prefix: string, name = 'DATABASE', port = ''): string =>
  `${prefix}HOST=localhost\n${prefix}PORT=${port}\n${prefix}USER=me\n${prefix}PASSWORD=secret\n${prefix}${name}=shop\n`;

describe('the services that a project seems to need', () => {
  it.each<[Record<string, string>, string[]]>([
    [
      { 'compose.yaml': 'services:\n  x:\n    image: postgres:17\n' },
      ['db is postgres by compose.yaml: an image: DATABASE_URL={db.url}'],
    ],
    [
      { '.env': 'PG_DSN="postgresql://me:secret@db/shop"\n' },
      ['db is postgres by .env: PG_DSN: PG_DSN={db.url}'],
    ],
    [
      { '.env': 'PG_DSN=postgres://db/shop\n', 'go.mod': 'require github.com/lib/pq v1.10.9\n' },
      ['db is postgres by .env: PG_DSN: PG_DSN={db.url}?sslmode=disable'],
    ],
    [
      {
        '.env': 'PG_DSN=postgres://db/shop?sslmode=require\n',
        'go.mod': 'require github.com/lib/pq v1.10.9\n',
      },
      ['db is postgres by .env: PG_DSN: PG_DSN={db.url}?sslmode=disable'],
    ],
    [
      { 'a.go': 'case "DATABASE_URL":\n', 'go.mod': 'require github.com/lib/pq v1.10.9\n' },
      ['db is postgres by a.go: DATABASE_URL: DATABASE_URL={db.url}?sslmode=disable'],
    ],
    [{ 'a.go': 'case "DATABASE_URL":\n' }, []],
    [
      { '.example-env': 'PG_DSN=postgres://db/shop\n' },
      ['db is postgres by .example-env: PG_DSN: PG_DSN={db.url}'],
    ],
    [
      { '.env.example': 'REDIS_URL=redis://localhost\nQUEUE=redis://localhost/1\n' },
      ['cache is redis-server by .env.example: REDIS_URL: REDIS_URL={cache.url} QUEUE={cache.url}'],
    ],
    [
      { 'docker-compose.yml': 'image: docker.io/library/redis:8' },
      ['cache is redis-server by docker-compose.yml: an image: REDIS_URL={cache.url}'],
    ],
    [{ '.env': 'DATABASE_URL=sqlite:///shop.db\n' }, []],
    [{ 'README.md': 'image: postgres' }, []],
    [
      { 'compose.yaml': 'services:\n  x:\n    image: mysql:9\n  y:\n    image: postgres:18\n' },
      ['db is postgres by compose.yaml: an image: DATABASE_URL={db.url}'],
    ],
    // MySQL, by an image and by each form of its address.
    [
      { 'compose.yml': 'services:\n  x:\n    image: mariadb:11\n' },
      ['db is mysql by compose.yml: an image: DATABASE_URL={db.url}'],
    ],
    [
      { '.env': 'DATABASE_URL=mysql://me:secret@db/shop?charset=utf8mb4\n' },
      ['db is mysql by .env: DATABASE_URL: DATABASE_URL={db.url}?charset=utf8mb4'],
    ],
    [
      { '.env': 'SQLALCHEMY_DATABASE_URI=mysql+pymysql://me:secret@db/shop\n' },
      [
        'db is mysql by .env: SQLALCHEMY_DATABASE_URI: SQLALCHEMY_DATABASE_URI=mysql+pymysql://{db.user}:{db.password}@{db.host}:{db.port}/{db.name}',
      ],
    ],
    [
      { '.env': 'DSN=me:secret@tcp(localhost:3306)/shop?parseTime=true\n' },
      [
        'db is mysql by .env: DSN: DSN={db.user}:{db.password}@tcp({db.host}:{db.port})/{db.name}?parseTime=true',
      ],
    ],
    [
      { '.env': 'DATABASE_URL=postgres://me:secret@db/shop?sslmode=require\n' },
      ['db is postgres by .env: DATABASE_URL: DATABASE_URL={db.url}'],
    ],
    [{ '.env': settings('MYSQL_') }, [`db is mysql by .env: MYSQL_HOST: ${parts('MYSQL_')}`]],
    [{ '.env': settings('PG') }, [`db is postgres by .env: PGHOST: ${parts('PG')}`]],
    [
      { '.env': settings('POSTGRES_', 'DB').replace('HOST', 'SERVER') },
      [`db is postgres by .env: POSTGRES_SERVER: ${parts('POSTGRES_', 'DB').replace('HOST', 'SERVER')}`],
    ],
    [
      { '.env': 'REDIS_HOST=localhost\nREDIS_DB=0\n' },
      ['cache is redis-server by .env: REDIS_HOST: REDIS_HOST={cache.host} REDIS_PORT={cache.port}'],
    ],
    // A neutral prefix: another variable, the port, the image or the packages tell which.
    [
      { '.env': `DB_CONNECTION=mysql\n${settings('DB_')}` },
      [`db is mysql by .env: DB_HOST: ${parts('DB_')}`],
    ],
    [{ '.env': `DB_CONNECTION=sqlite\n${settings('DB_', 'DATABASE', '3306')}` }, []],
    [
      { '.env': `DB_ENGINE=django.db.backends.postgresql\n${settings('DB_', 'NAME')}` },
      [`db is postgres by .env: DB_HOST: ${parts('DB_', 'NAME')}`],
    ],
    [{ '.env': settings('DB_', 'NAME', '3306') }, [`db is mysql by .env: DB_HOST: ${parts('DB_', 'NAME')}`]],
    [
      { '.env': settings('DB_', 'NAME'), 'compose.yml': 'services:\n  d:\n    image: mysql:8\n' },
      [`db is mysql by .env: DB_HOST: ${parts('DB_', 'NAME')}`],
    ],
    [
      { '.env': settings('DB_', 'NAME'), 'package.json': '{ "dependencies": { "mysql2": "^3" } }' },
      [`db is mysql by .env: DB_HOST: ${parts('DB_', 'NAME')}`],
    ],
    [{ '.env': settings('DB_', 'NAME') }, []],
    [{ '.env': 'SMTP_HOST=localhost\n', 'package.json': '{ "dependencies": { "mysql2": "^3" } }' }, []],
    // The variables of the image are not those of the server.
    [
      {
        'compose.yml':
          'services:\n  d:\n    image: mysql:8\n    environment:\n      MYSQL_ROOT_HOST: "%"\n      MYSQL_USER: me\n',
      },
      ['db is mysql by compose.yml: an image: DATABASE_URL={db.url}'],
    ],
    [
      {
        'prisma/schema.prisma':
          'generator client {\n  provider = "prisma-client-js"\n}\ndatasource db {\n  provider = "mysql"\n  url = env("DATABASE_URL")\n}\n',
      },
      ['db is mysql by prisma/schema.prisma: DATABASE_URL: DATABASE_URL={db.url}'],
    ],
    // Sources tell the names if nothing else does.
    [
      {
        'package.json': '{ "dependencies": { "mysql2": "^3" } }',
        'server.js':
          "const { DB_HOST = 'localhost', DB_USER } = process.env;\nconnect(process.env.DB_PORT || 3306, process.env.DB_NAME);\n",
      },
      [
        'db is mysql by server.js: DB_HOST: DB_HOST={db.host} DB_PORT={db.port} DB_USER={db.user} DB_NAME={db.name}',
      ],
    ],
    [
      {
        'requirements.txt': 'flask\npymysql\n',
        'app.py': 'host = os.environ.get("MYSQL_HOST", "localhost")\nport = os.getenv("MYSQL_PORT")\n',
      },
      ['db is mysql by app.py: MYSQL_HOST: MYSQL_HOST={db.host} MYSQL_PORT={db.port}'],
    ],
  ])('are, by %j, %j', (files, found) => {
    expect(needs(files)).toEqual(found);
  });

  it('are named by the settings above its folder too', () => {
    write({ '.env': settings('MYSQL_'), 'backend/package.json': '{}' });
    expect(findNeeds(folder, 'backend', {}).map(({ why }) => why)).toEqual(['.env: MYSQL_HOST']);
  });

  it('are none if the environment gives the address', () => {
    const files = { '.env': 'DATABASE_URL=postgres://db/shop' };
    expect(needs(files, { DATABASE_URL: 'postgres://here/x' })).toEqual([]);
    expect(needs({ '.env': settings('MYSQL_') }, { MYSQL_HOST: 'here' })).toEqual([]);
  });
});

describe('the programs that Bench cannot start', () => {
  it('are those of addresses that are neither of a service, nor of HTTP, nor of a file', () => {
    write({
      '.env': [
        'MONGODB_URL=mongodb://me:secret@127.0.0.1/shop',
        'QUEUE=amqp://queue:5673',
        'DATABASE_URL=postgres://127.0.0.1:5432/shop',
        'SITE=http://localhost:3000',
        'FILE=file:dev.db',
        'NAME=shop',
      ].join('\n'),
    });
    const mongodb = { host: '127.0.0.1', port: 27017, why: '.env: MONGODB_URL' };
    expect(findForeign(folder, '', {})).toEqual([{ host: 'queue', port: 5673, why: '.env: QUEUE' }, mongodb]);
    expect(findForeign(folder, '', { QUEUE: 'amqp://elsewhere' })).toEqual([mongodb]);
  });
});

describe('a start that takes its port from Bench', () => {
  it.each([
    ['app.py', 'web.run_app(app, port=int(os.environ.get("APP_PORT", "8085")))', 'APP_PORT'],
    ['app.js', 'app.listen(Number(process.env.APP_PORT) || 8085)', 'APP_PORT'],
    ['app.py', 'port = os.getenv("APP_PORT") or "8085"', 'APP_PORT'],
    ['.env', 'DB_PORT=5432\nLISTEN=8085\n', 'LISTEN'],
  ])('gets it, of %s with %j, by %s', (file, text, name) => {
    write({ [file]: text });
    expect(withPort(describeStart(folder, './serve'), folder, 8085)).toMatchObject({
      start: { env: { [name]: '{port}' } },
      why: `${name}={port}: ${file} sets it to 8085`,
    });
  });

  it('gets it where its command or its environment names it', () => {
    expect(
      withPort(describeStart(folder, './serve --listen=:8085 18085'), folder, 8085)?.start.command,
    ).toEqual(['./serve', '--listen=:{port}', '18085']);
    expect(withPort(describeStart(folder, 'PORT=8085 ./serve'), folder, 8085)?.start.env).toEqual({
      PORT: '{port}',
    });
  });

  it('is none if nothing names the port', () => {
    write({ 'app.py': 'web.run_app(app, port=8085)', 'compose.yaml': 'ports:\n  - 8085:8085\n' });
    expect(withPort(describeStart(folder, './serve'), folder, 8085)).toBeUndefined();
  });
});

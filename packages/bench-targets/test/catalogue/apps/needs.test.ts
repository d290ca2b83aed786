import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNeeds } from '../../../src/catalogue/apps/needs.ts';
import { readWay } from '../../../src/catalogue/apps/ways/index.ts';
import { withPort } from '../../../src/catalogue/apps/variables.ts';
import { writeFiles } from '../../../../bench-lab/testing/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-needs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Record<string, string>): void => writeFiles(folder, files);

const needs = (files: Record<string, string>, env = {}): string[] => {
  write(files);
  return findNeeds(folder, '', env).map(({ name, env: set, why }) => {
    const words = Object.entries(set).map(([variable, value]) => `${variable}=${value}`);
    return `${name} by ${why}: ${words.join(' ').replaceAll(`{${name}.`, '{')}`;
  });
};

const parts = (prefix: string, name = 'DATABASE'): string =>
  `${prefix}HOST={host} ${prefix}PORT={port} ${prefix}USER={user} ${prefix}PASSWORD={password} ${prefix}${name}={name}`;
const settings = (prefix: string, name = 'DATABASE'): string =>
  `${prefix}HOST=localhost\n${prefix}PORT=\n${prefix}USER=me\n${prefix}PASSWORD=secret\n${prefix}${name}=shop\n`;

describe('the services that a project seems to need', () => {
  it.each<[Record<string, string>, string[]]>([
    [
      { 'compose.yaml': 'services:\n  x:\n    image: postgres:17\n' },
      ['postgres by compose.yaml: an image: DATABASE_URL={url}'],
    ],
    [{ '.env': 'PG_DSN="postgresql://me:secret@db/shop"\n' }, ['postgres by .env: PG_DSN: PG_DSN={url}']],
    [
      { '.env': 'PG_DSN=postgres://db/shop\n', 'go.mod': 'module shop\n' },
      ['postgres by .env: PG_DSN: PG_DSN={url} PGSSLMODE=disable'],
    ],
    [{ '.example-env': 'PG_DSN=postgres://db/shop\n' }, ['postgres by .example-env: PG_DSN: PG_DSN={url}']],
    [
      { '.env.example': 'REDIS_URL=redis://localhost\nQUEUE=redis://localhost/1\n' },
      ['redis by .env.example: REDIS_URL: REDIS_URL={url} QUEUE={url}'],
    ],
    [
      { 'docker-compose.yml': 'image: docker.io/library/redis:8' },
      ['redis by docker-compose.yml: an image: REDIS_URL={url}'],
    ],
    [{ '.env': 'DATABASE_URL=sqlite:///shop.db\n' }, []],
    [{ 'README.md': 'image: postgres' }, []],
    [{ 'compose.yaml': 'services:\n  x:\n    image: mysql:9\n  y:\n    image: postgres:18\n' }, []],
    // MySQL, by an image and by each form of its address.
    [
      { 'compose.yml': 'services:\n  x:\n    image: mariadb:11\n' },
      ['mysql by compose.yml: an image: DATABASE_URL={url}'],
    ],
    [
      { '.env': 'DATABASE_URL=mysql://me:secret@db/shop?charset=utf8mb4\n' },
      ['mysql by .env: DATABASE_URL: DATABASE_URL={url}?charset=utf8mb4'],
    ],
    [
      { '.env': 'SQLALCHEMY_DATABASE_URI=mysql+pymysql://me:secret@db/shop\n' },
      [
        'mysql by .env: SQLALCHEMY_DATABASE_URI: SQLALCHEMY_DATABASE_URI=mysql+pymysql://{user}:{password}@{host}:{port}/{name}',
      ],
    ],
    [
      { '.env': 'DSN=me:secret@tcp(localhost:3306)/shop?parseTime=true\n' },
      ['mysql by .env: DSN: DSN={user}:{password}@tcp({host}:{port})/{name}?parseTime=true'],
    ],
    [
      { '.env': 'DATABASE_URL=postgres://me:secret@db/shop?sslmode=require\n' },
      ['postgres by .env: DATABASE_URL: DATABASE_URL={url}'],
    ],
    [{ '.env': settings('MYSQL_') }, [`mysql by .env: MYSQL_HOST: ${parts('MYSQL_')}`]],
    [
      { '.env': 'REDIS_HOST=localhost\nREDIS_DB=0\n' },
      ['redis by .env: REDIS_HOST: REDIS_HOST={host} REDIS_PORT={port}'],
    ],
    // A neutral prefix: the image or the packages tell which.
    [
      { '.env': settings('DB_', 'NAME'), 'compose.yml': 'services:\n  d:\n    image: mysql:8\n' },
      [`mysql by .env: DB_HOST: ${parts('DB_', 'NAME')}`],
    ],
    [
      { '.env': settings('DB_', 'NAME'), 'package.json': '{ "dependencies": { "mysql2": "^3" } }' },
      [`mysql by .env: DB_HOST: ${parts('DB_', 'NAME')}`],
    ],
    [{ '.env': settings('DB_', 'NAME') }, []],
    [{ '.env': 'SMTP_HOST=localhost\n', 'package.json': '{ "dependencies": { "mysql2": "^3" } }' }, []],
    [
      {
        'prisma/schema.prisma':
          'generator client {\n  provider = "prisma-client-js"\n}\ndatasource db {\n  provider = "mysql"\n  url = env("DATABASE_URL")\n}\n',
      },
      ['mysql by prisma/schema.prisma: DATABASE_URL: DATABASE_URL={url}'],
    ],
    // Sources tell the names if nothing else does.
    [
      {
        'package.json': '{ "dependencies": { "mysql2": "^3" } }',
        'server.js':
          "connect(process.env.DB_HOST || 'localhost', process.env.DB_PORT || 3306, process.env.DB_NAME, process.env.DB_USER);\n",
      },
      ['mysql by server.js: DB_HOST: DB_HOST={host} DB_PORT={port} DB_NAME={name} DB_USER={user}'],
    ],
    [
      {
        'requirements.txt': 'flask\npymysql\n',
        'app.py': 'host = os.environ.get("MYSQL_HOST", "localhost")\nport = os.getenv("MYSQL_PORT")\n',
      },
      ['mysql by app.py: MYSQL_HOST: MYSQL_HOST={host} MYSQL_PORT={port}'],
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

describe('a start that takes its port from Bench', () => {
  it.each([
    ['app.py', 'web.run_app(app, port=int(os.environ.get("APP_PORT", "8085")))', 'APP_PORT'],
    ['app.js', 'app.listen(Number(process.env.APP_PORT) || 8085)', 'APP_PORT'],
    ['app.py', 'port = os.getenv("APP_PORT") or "8085"', 'APP_PORT'],
    ['.env', 'DB_PORT=5432\nLISTEN=8085\n', 'LISTEN'],
    [
      'app.js',
      'http.listen(process.env.APP_PORT || 8085); tls.listen(process.env.TLS_PORT || 8443);',
      'APP_PORT',
    ],
  ])('gets it, of %s with %j, by %s', (file, text, name) => {
    write({ [file]: text });
    expect(withPort(readWay(folder, './serve'), folder, 8085)).toMatchObject({
      way: { env: { [name]: '{port}' } },
      why: `${name}={port}: ${file} sets it to 8085`,
    });
  });

  it('gets it where its command or its environment names it', () => {
    expect(withPort(readWay(folder, './serve --listen=:8085 18085'), folder, 8085)?.way.command).toEqual([
      './serve',
      '--listen=:{port}',
      '18085',
    ]);
    expect(withPort(readWay(folder, 'PORT=8085 ./serve'), folder, 8085)?.way.env).toEqual({
      PORT: '{port}',
    });
  });

  it('gets it by the option that its source declares', () => {
    write({ 'main.go': 'listen := flag.String("listen", ":8085", "address")' });
    expect(withPort(readWay(folder, './serve'), folder, 8085)).toMatchObject({
      way: { command: ['./serve', '--listen', ':{port}'] },
      why: '--listen :{port}: main.go sets it to :8085',
    });
  });

  it('is none if nothing names the port', () => {
    write({ 'app.py': 'web.run_app(app, port=8085)', 'compose.yaml': 'ports:\n  - 8085:8085\n' });
    expect(withPort(readWay(folder, './serve'), folder, 8085)).toBeUndefined();
  });
});

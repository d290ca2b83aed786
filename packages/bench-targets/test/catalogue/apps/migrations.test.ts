import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMigration, withMigration } from '../../../src/catalogue/apps/migrations.ts';
import type { Start } from '../../../src/catalogue/apps/starts/index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-migrations-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function migrationOf(files: Record<string, string>, start: Partial<Start>): string | undefined {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const found = findMigration(folder, whole(start));
  return found && `${found.command.join(' ')}, by ${found.why}`;
}

const whole = (start: Partial<Start>): Start => ({
  folder: '',
  command: ['node', 'server.js'],
  env: {},
  build: [],
  packages: [],
  language: 'javascript',
  framework: 'unknown',
  runtime: 'node',
  why: '',
  isForDevelopment: false,
  ...start,
});
const scripts = (all: Record<string, string>): Record<string, string> => ({
  'package.json': JSON.stringify({ scripts: all }),
});
const flask: Partial<Start> = { runtime: 'python', command: ['gunicorn', 'shop:create_app()'] };
const python = { 'requirements.txt': 'flask\n' };

describe('the migration of a project', () => {
  it.each<[Record<string, string>, Partial<Start>, string | undefined]>([
    [
      scripts({ 'db:migrate': 'node migrate.js' }),
      {},
      'node migrate.js, by package.json: scripts.db:migrate',
    ],
    // Bench gives the variables of an example, and the project has no .env.
    [
      scripts({ 'db:migrate': 'tsx --env-file=.env ./migrate.ts' }),
      {},
      'tsx ./migrate.ts, by package.json: scripts.db:migrate',
    ],
    [
      scripts({
        'migrate:dev': 'x',
        migrate: 'prisma migrate dev',
        'migrate:deploy': 'prisma migrate deploy',
      }),
      {},
      'prisma migrate deploy, by package.json: scripts.migrate:deploy',
    ],
    [
      scripts({ 'migration:run': 'npm run build && cross-env A=1 typeorm migration:run' }),
      {},
      'npm run migration:run, by package.json: scripts.migration:run',
    ],
    [
      scripts({ prestart: 'knex migrate:latest' }),
      {},
      'knex migrate:latest, by package.json: scripts.prestart',
    ],
    [scripts({ 'migration:create': 'x', 'db:seed': 'x' }), {}, undefined],
    [
      { 'src/prisma/schema.prisma': '', 'src/prisma/migrations/1/migration.sql': '' },
      {},
      'prisma migrate deploy --schema src/prisma/schema.prisma, by src/prisma/schema.prisma',
    ],
    [{ ...python, 'alembic.ini': '' }, flask, 'alembic upgrade head, by alembic.ini'],
    [
      { ...python, 'migrations/env.py': 'from flask import current_app' },
      flask,
      'flask --app shop:create_app() db upgrade, by migrations/env.py',
    ],
    [
      { ...python, 'migrations/env.py': 'from flask import current_app' },
      { ...flask, command: ['flask', 'run'] },
      'flask db upgrade, by migrations/env.py',
    ],
    [
      { ...python, 'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")' },
      flask,
      'python manage.py migrate --noinput, by manage.py',
    ],
    [{ ...python, 'manage.py': 'import click  # like that of Django' }, flask, undefined],
    // The start migrates itself.
    [{ ...python, 'alembic.ini': '' }, { ...flask, setup: ['alembic', 'upgrade', 'head'] }, undefined],
    [
      { ...python, 'alembic.ini': '', 'boot.sh': 'while ! flask db upgrade; do sleep 1; done' },
      { ...flask, command: ['sh', 'boot.sh'] },
      undefined,
    ],
    [
      scripts({ start: 'npm run db:migrate & node server.js', 'db:migrate': 'node migrate.js' }),
      { command: ['npm', 'run', 'start'] },
      undefined,
    ],
  ])('is, by %j and %j, %s', (files, start, found) => {
    expect(migrationOf(files, start)).toBe(found);
  });

  it('comes after the other steps of a start', () => {
    const migration = { command: ['alembic', 'upgrade', 'head'], why: '' };
    expect(withMigration(whole({}), migration).setup).toEqual(migration.command);
    expect(withMigration(whole({ setup: ['sh', '-c', 'a b && c'] }), migration).setup).toEqual([
      'sh',
      '-c',
      'a b && c && alembic upgrade head',
    ]);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findSetup } from '../../../src/catalogue/apps/setup.ts';
import type { Way } from '../../../src/catalogue/apps/ways/index.ts';
import { writeFiles } from '../../../../bench-lab/testing/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-setup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const WAY: Way = {
  folder: '',
  command: ['node', 'server.js'],
  env: {},
  build: [],
  language: 'javascript',
  runtime: 'node',
  why: '',
  isForDevelopment: false,
};
const scripts = (all: Record<string, string>): Record<string, string> => ({
  'package.json': JSON.stringify({ scripts: all }),
});
const PYTHON: Partial<Way> = { runtime: 'python' };
const ALEMBIC = { 'requirements.txt': 'flask\n', 'alembic.ini': '' };
const DJANGO = { 'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")' };

it.each<[Record<string, string>, Partial<Way>, boolean, string | undefined]>([
  [scripts({ 'db:migrate': 'node migrate.js' }), {}, true, 'npm run db:migrate'],
  [scripts({ 'db:migrate': 'node migrate.js' }), {}, false, undefined],
  [
    scripts({ 'migrate:dev': 'x', migrate: 'prisma migrate dev', 'migrate:deploy': 'prisma migrate deploy' }),
    {},
    true,
    'npm run migrate:deploy',
  ],
  [scripts({ 'migration:create': 'x', 'db:seed': 'x' }), {}, true, undefined],
  [
    { 'src/prisma/schema.prisma': '', 'src/prisma/migrations/1/migration.sql': '' },
    {},
    true,
    'prisma migrate deploy --schema src/prisma/schema.prisma',
  ],
  [ALEMBIC, PYTHON, true, 'alembic upgrade head'],
  [ALEMBIC, PYTHON, false, undefined],
  [DJANGO, PYTHON, false, 'python manage.py migrate --noinput'],
  [{ 'manage.py': 'import click  # like that of Django' }, PYTHON, true, undefined],
  // The way names its own.
  [ALEMBIC, { ...PYTHON, setup: ['flask', 'db', 'upgrade'] }, true, 'flask db upgrade'],
])('before %j with %j, and a database (%j), a project runs %s', (files, way, hasDatabase, found) => {
  writeFiles(folder, files);
  expect(findSetup(folder, { ...WAY, ...way }, hasDatabase)?.join(' ')).toBe(found);
});

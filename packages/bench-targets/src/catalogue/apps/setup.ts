/** The command that a project runs before its server: it brings a new database to its form. Changes no file. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesIn } from './files.ts';
import { readNodeManifest } from '../projects/manifests.ts';
import { isDjango } from './ways/python.ts';
import type { Way } from './ways/way.ts';

/** The scripts of package.json that migrate: `db:migrate`, `migration:run`, `migrate:deploy`. */
const SCRIPT =
  /^(?:(?:db|database|prisma|typeorm|knex|sequelize|drizzle|mikro-orm|orm)[:-])?migrat(?:e|ions?)(?:[:-](?:run|up|latest|deploy|prod\w*|apply|all))*$/;
/** Scripts that ask, or write a new migration. */
const OF_DEVELOPMENT = /\bmigrate\s+dev\b|\bgenerate\b|\bcreate\b|\bwatch\b/;

/** Returns the command before a way: that which its place names, or the migration of its project. Most are only of use with a database; that of Django also for a file. */
export function findSetup(
  root: string,
  { setup, folder, runtime }: Way,
  hasDatabase: boolean,
): string[] | undefined {
  const place = join(root, folder);
  if (setup !== undefined) return setup;
  if (runtime === 'python' && isDjango(place)) return ['python', 'manage.py', 'migrate', '--noinput'];
  if (!hasDatabase || runtime === 'none') return undefined;
  if (runtime === 'python')
    return existsSync(join(place, 'alembic.ini')) ? ['alembic', 'upgrade', 'head'] : undefined;
  const scripts = Object.entries(readNodeManifest(place).scripts)
    .filter(([name, line]) => SCRIPT.test(name) && !OF_DEVELOPMENT.test(line))
    .map(([name]) => name);
  const script = scripts.find((name) => /deploy|prod/.test(name)) ?? scripts[0];
  if (script !== undefined) return ['npm', 'run', script];
  const schema = filesIn(place, '**/schema.prisma').find((file) =>
    existsSync(join(place, dirname(file), 'migrations')),
  );
  return schema === undefined ? undefined : ['prisma', 'migrate', 'deploy', '--schema', schema];
}

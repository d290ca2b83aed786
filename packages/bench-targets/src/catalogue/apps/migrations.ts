/** The command of a project that brings a new database to its form. Changes no file. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readNodeManifest } from './manifests.ts';
import { filesIn, readText } from './starts/files.ts';
import type { Start } from './starts/index.ts';
import { readLine } from './starts/line.ts';
import { textOfPython } from './starts/python.ts';
import { joinSteps } from './words.ts';

/** A command, and the file that names it. */
export interface Migration {
  command: string[];
  why: string;
}

const MIGRATES = /\bmigrat|\bupgrade\b|\balembic\b|\bprisma\b|\bdb:|[-:]sync\b/i;
/** The scripts of package.json that migrate: `db:migrate`, `migration:run`, `migrate:deploy`. */
const SCRIPT =
  /^(?:(?:db|database|sql|prisma|typeorm|knex|sequelize|drizzle|mikro-orm|orm)[:-])?migrat(?:e|ions?)(?:[:-](?:run|up|latest|deploy|prod|production|apply|all))*$/;
const OF_PRODUCTION = /deploy|prod/;
/** Scripts that ask, or write a new migration. */
const OF_DEVELOPMENT = /\bmigrate\s+dev\b|\bgenerate\b|\bcreate\b|\bwatch\b/;

/** Returns the migration of the project that a server starts in; undefined if it has none, or if the start migrates itself. */
export function findMigration(root: string, start: Start): Migration | undefined {
  const place = join(root, start.folder);
  if (migratesItself(start, place)) return undefined;
  return start.runtime === 'node' ? ofScripts(root, start) : ofPython(place, start);
}

/** Returns a start that also migrates before each trial. */
export function withMigration(start: Start, { command }: Migration): Start {
  const { setup } = start;
  return { ...start, setup: joinSteps([...(setup === undefined ? [] : [setup]), command]) };
}

function migratesItself({ setup = [], command }: Start, place: string): boolean {
  const [, verb = '', script = ''] = command;
  const scripts = readNodeManifest(place).scripts ?? {};
  const texts = [
    ...setup,
    ...command,
    // A shell runs what Bench cannot split.
    scripts[verb === 'run' ? script : verb] ?? '',
    ...command.filter((word) => /\.(ba)?sh$/.test(word)).map((file) => readText(place, file)),
  ];
  return texts.some((text) => MIGRATES.test(text));
}

function ofScripts(root: string, { folder }: Start): Migration | undefined {
  const { scripts = {} } = readNodeManifest(join(root, folder));
  const named = Object.keys(scripts)
    .filter((name) => SCRIPT.test(name) && !OF_DEVELOPMENT.test(scripts[name] ?? ''))
    .toSorted((a, b) => Number(OF_PRODUCTION.test(b)) - Number(OF_PRODUCTION.test(a)) || a.length - b.length);
  const before = MIGRATES.test(scripts['prestart'] ?? '') ? ['prestart'] : [];
  const [name] = [...before, ...named];
  if (name === undefined) return ofPrisma(root, folder);
  const read = readLine(scripts[name] ?? '', { root, folder, env: {}, copied: [], isForeign: false });
  const isPlain = read !== undefined && Object.keys(read.env).length === 0 && read.setup.length === 0;
  return {
    command: isPlain && read.build.length === 0 ? read.command : ['npm', 'run', name],
    why: `${join(folder, 'package.json')}: scripts.${name}`,
  };
}

function ofPrisma(root: string, folder: string): Migration | undefined {
  const place = join(root, folder);
  const schema = filesIn(place, '**/schema.prisma').find((file) =>
    existsSync(join(place, dirname(file), 'migrations')),
  );
  if (schema === undefined) return undefined;
  return { command: ['prisma', 'migrate', 'deploy', '--schema', schema], why: join(folder, schema) };
}

function ofPython(place: string, { folder, command }: Start): Migration | undefined {
  if (textOfPython(place) === '') return undefined;
  const found = (file: string, ...words: string[]): Migration => ({
    command: words,
    why: join(folder, file),
  });
  if (/DJANGO_SETTINGS_MODULE/.test(readText(place, 'manage.py')))
    return found('manage.py', 'python', 'manage.py', 'migrate', '--noinput');
  if (existsSync(join(place, 'alembic.ini'))) return found('alembic.ini', 'alembic', 'upgrade', 'head');
  if (!/\bflask\b|current_app/i.test(readText(place, 'migrations', 'env.py'))) return undefined;
  const app = appOf(command);
  return found('migrations/env.py', 'flask', ...(app === undefined ? [] : ['--app', app]), 'db', 'upgrade');
}

/** Returns the app that a command serves, as `flask --app` takes it; undefined if Flask finds it itself. */
function appOf(command: readonly string[]): string | undefined {
  const at = command.findIndex((word) => word === '--app' || word === '-A');
  if (at >= 0) return command[at + 1];
  return command.find((word) => /^[A-Za-z_][\w.]*:[A-Za-z_]\w*(?:\(.*\))?$/.test(word));
}

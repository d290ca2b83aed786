/** The PostgreSQL of a run: the one that `DATABASE_URL` names, else the embedded one. */
import { UsageError } from 'bench-model/errors';
import { readProcess } from 'bench-machine/procfs';
import type { CompanionProcess } from '../companion.ts';
import { findPostgres, POSTGRES, startPostgres } from './postgres.ts';
import { askable, MAX_CONNECTIONS, prefixOf, wordsOf, type FoundDatabase } from './server.ts';

/** `drop database ... with (force)` */
const OLDEST = 13;

/**
 * Finds the database that `DATABASE_URL` names, else the embedded one. Throws a usage error if the former cannot be
 * used, and a toolchain error if the latter is missing.
 */
export async function findDatabase(databaseUrl = process.env['DATABASE_URL']): Promise<FoundDatabase> {
  if (databaseUrl !== undefined && databaseUrl !== '') return findExternal(databaseUrl);
  const postgres = await findPostgres();
  return {
    kind: 'embedded',
    version: postgres.version,
    maxConnections: MAX_CONNECTIONS,
    start: (context) => startPostgres(postgres, context),
  };
}

interface Standing {
  version: string;
  mayCreate: boolean;
  maxConnections: number;
  /** A process that serves one connection. */
  backend: number;
}

async function findExternal(databaseUrl: string): Promise<FoundDatabase> {
  const url = parseUrl(databaseUrl);
  const hint = 'correct DATABASE_URL, or unset it to use the embedded PostgreSQL';
  const [found] = await POSTGRES.query<Standing>(
    url,
    `select split_part(current_setting('server_version'), ' ', 1) as version,
       rolcreatedb or rolsuper as "mayCreate",
       current_setting('max_connections')::int as "maxConnections", pg_backend_pid() as backend
     from pg_roles where rolname = current_user`,
  ).catch((error: Error): never => {
    throw new UsageError(`DATABASE_URL: ${placeOf(url)}: ${wordsOf(error)}`, hint);
  });
  if (found === undefined || Number.parseInt(found.version, 10) < OLDEST)
    throw new UsageError(`DATABASE_URL: PostgreSQL ${found?.version} is older than ${OLDEST}`, hint);
  if (!found.mayCreate) {
    throw new UsageError(
      'DATABASE_URL: its user cannot create databases, and each trial needs its own',
      'alter role … createdb; or unset DATABASE_URL to use the embedded PostgreSQL',
    );
  }
  const { version, maxConnections, backend } = found;
  const program = { kind: 'external', version, maxConnections };
  const process = parentOf(backend, new URL(url).hostname);
  return {
    ...program,
    async start(context) {
      const { token, recordLeftoverServer } = context;
      recordLeftoverServer?.(placeOf(url));
      const running = {
        ...program,
        url,
        process: () => process,
        async [Symbol.asyncDispose]() {
          // A table that could not be closed has left its database behind.
          const dropped = await dropAll(url, token).catch(() => undefined);
          if (dropped !== undefined) recordLeftoverServer?.(undefined);
        },
      };
      return askable(running, POSTGRES, context);
    },
  };
}

/** Returns the parent of a backend, which is that of all its processes, if it is a visible PostgreSQL on this host. */
function parentOf(backend: number, host: string): CompanionProcess | undefined {
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(host)) return undefined;
  const seen = readProcess(backend);
  return seen?.command.startsWith('postgres') === true ? { pid: seen.ppid } : undefined;
}

/** Throws a usage error that omits the URL, because it contains a password. */
function parseUrl(databaseUrl: string): string {
  const url = URL.parse(databaseUrl.replace(/^postgres:/, 'postgresql:'));
  if (url?.protocol !== 'postgresql:' || url.hostname === '' || url.pathname.length < 2) {
    throw new UsageError(
      'DATABASE_URL: not a PostgreSQL address',
      'e.g. DATABASE_URL=postgresql://user:password@127.0.0.1:5432/name; unset it to use the embedded PostgreSQL',
    );
  }
  return url.href;
}

/** The note of a killed command about its databases. */
export interface Debt {
  run: string;
  token: string;
  /** As `placeOf` returns it; absent if there are none. */
  database?: string;
}

/**
 * Removes the databases that a killed run left on the server of `DATABASE_URL`. Returns messages; `isOwed` is true if some
 * databases remain because another server is configured now or refuses.
 */
export async function removeDatabases(
  { run, token, database }: Debt,
  databaseUrl = process.env['DATABASE_URL'] ?? '',
): Promise<{ lines: string[]; isOwed: boolean }> {
  if (database === undefined) return { lines: [], isOwed: false };
  const owed = (why: string): { lines: string[]; isOwed: boolean } => ({
    lines: [`run ${run} had been killed and left databases (${prefixOf(token)}…) on ${database}: ${why}`],
    isOwed: true,
  });
  try {
    if (databaseUrl === '' || placeOf(parseUrl(databaseUrl)) !== database)
      return owed('the next command with that DATABASE_URL drops them');
    const names = await dropAll(parseUrl(databaseUrl), token);
    const lines = names.map((name) => `run ${run} had been killed and left the database ${name}: dropped it`);
    return { lines, isOwed: false };
  } catch (error) {
    return owed(wordsOf(error as Error));
  }
}

/** Drops the databases of a token and returns their names. Throws the errors of pg. */
async function dropAll(url: string, token: string): Promise<string[]> {
  const prefix = prefixOf(token);
  const found = await POSTGRES.query<{ datname: string }>(
    url,
    'select datname from pg_database where starts_with(datname, $1)',
    [prefix],
  );
  const names = found.map(({ datname }) => datname).filter((name) => /^\d+$/.test(name.slice(prefix.length)));
  for (const name of names) await POSTGRES.query(url, POSTGRES.drop(name));
  return names;
}

/** Returns the server and the database of a URL, without user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

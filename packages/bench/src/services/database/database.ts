/** The database of a workload: an embedded PostgreSQL for the length of a run, or the one that `DATABASE_URL` names. */

import { serversAtOnce } from 'bench-model/planned';
import pWaitFor from 'p-wait-for';
import type { Client, QueryResultRow } from 'pg';
import type { Table } from 'bench-targets/catalogue/workloads/workload';
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { hide, secretsOf } from 'bench-machine/redact';
import type { Plan } from 'bench-model/plan';
import { describeEnd } from 'bench-machine/launch';
import { findPostgres, launchPostgres } from './postgres.ts';
import { readProcess } from 'bench-machine/procfs';
import type { CompanionContext, CompanionProcess, LaunchedProgram } from '../companion.ts';
import {
  addressOf,
  DatabaseError,
  POLL_MS,
  prefixOf,
  QUERY_MS,
  untilReady,
  wordsOf,
  type DatabaseProgram,
  type DatabaseServer,
  type FoundDatabase,
  type OpenDatabase,
} from './server.ts';

/** The longest time that the last transactions of a stopped server may take. */
const DRAIN_MS = 20_000;
/** `drop database ... with (force)` */
const OLDEST = 13;
const USUAL_PORT = 5432;

/** A running database. Disposing stops an embedded one. */
export interface Database extends DatabaseServer {
  kind: 'embedded' | 'external';
  version: string;
  maxConnections: number;
  /** Creates a new table in its own database. Throws a database error if that fails. */
  open(table: Table): Promise<OpenTable>;
}

/** The table of one trial. Disposing removes it. */
export interface OpenTable extends AsyncDisposable {
  /** The environment of its server. */
  env: Record<string, string>;
  count?: OpenDatabase['count'] | undefined;
  /**
   * Counts the rows inserted by this trial once nobody is connected. Throws a database error if a connection
   * remains.
   */
  countInserts(): Promise<number>;
}

/**
 * Finds the database that `DATABASE_URL` names, else the embedded one. Throws a usage error if the former cannot be
 * used, and a toolchain error if the latter is missing.
 */
export async function findDatabase(databaseUrl = process.env['DATABASE_URL']): Promise<DatabaseProgram> {
  if (databaseUrl !== undefined && databaseUrl !== '') return findExternal(databaseUrl);
  const postgres = await findPostgres();
  return {
    kind: 'embedded',
    version: postgres.version,
    launch: (context) => launchPostgres(postgres, context),
  };
}

/** Finds the same database for a manifest that uses PostgreSQL. */
export async function findForManifest(): Promise<FoundDatabase> {
  const program = await findDatabase();
  const { kind, version } = program;
  return { kind, version, start: (context) => startDatabase(program, context) };
}

async function findExternal(databaseUrl: string): Promise<DatabaseProgram> {
  const url = parseUrl(databaseUrl);
  const hint = 'correct DATABASE_URL, or unset it to use the embedded PostgreSQL';
  const [found] = await query<{ version: string; may: boolean }>(
    url,
    `select current_setting('server_version') as version, rolcreatedb or rolsuper as may
     from pg_roles where rolname = current_user`,
  ).catch((error: Error): never => {
    const { host, pathname } = new URL(url);
    throw new UsageError(`DATABASE_URL: ${host}${pathname}: ${wordsOf(error)}`, hint);
  });
  const version = found?.version.split(' ')[0] ?? 'unknown';
  if (Number.parseInt(version, 10) < OLDEST)
    throw new UsageError(`DATABASE_URL: PostgreSQL ${version} is older than ${OLDEST}`, hint);
  if (found?.may !== true) {
    throw new UsageError(
      'DATABASE_URL: its user cannot create databases, and each trial needs its own',
      'alter role … createdb; or unset DATABASE_URL to use the embedded PostgreSQL',
    );
  }
  return { kind: 'external', version, url };
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

/**
 * Starts the embedded database, or connects to the external one. Throws a toolchain error if the embedded one does
 * not answer in time.
 */
export async function startDatabase(program: DatabaseProgram, spec: CompanionContext): Promise<Database> {
  if (!('launch' in program)) {
    const settings = await readSettings(program.url);
    spec.recordLeftoverServer?.(serverOf(program.url));
    const { token, recordLeftoverServer } = spec;
    return new StandingDatabase({ program, token, recordLeftoverServer, ...settings });
  }
  const launched = await program.launch(spec);
  const settings = await untilReady(launched, readSettings, {
    name: 'PostgreSQL',
    hint: 'set DATABASE_URL to another PostgreSQL',
  });
  const { url } = launched;
  const { token, countsStatements } = spec;
  if (countsStatements) await query(url, 'create extension pg_stat_statements');
  const parts = { program: { ...program, url }, launched, token, ...present({ countsStatements }) };
  return new StandingDatabase({ ...parts, ...settings });
}

/** Connections that the servers cannot use: those reserved for superusers and that of the harness. */
const RESERVED = 5;

/** Throws a usage error if servers that run together could open more connections than the database accepts. */
export function refuseCrowd(
  { params = {}, workers, ...plan }: Pick<Plan, 'params' | 'workers' | 'byTurns' | 'targets'>,
  database: Database,
): void {
  const { pool = 0, overflow = 0 } = params;
  const servers = serversAtOnce(plan);
  const most = servers * workers * (pool + overflow);
  if (most <= database.maxConnections - RESERVED) return;
  throw new UsageError(
    `the plan needs ${most} connections, and the database accepts ${database.maxConnections}: ${servers} server, ${workers} workers, a pool of ${pool} + ${overflow} each`,
    'lower --workers, --param pool= or --param overflow=',
  );
}

/** The settings and processes that it reports. */
interface Settings {
  maxConnections: number;
  /** The parent of all its processes, if somebody else runs it on this host. */
  pid: number | undefined;
}

function readSettings(url: string): Promise<Settings> {
  return connect(url, async (client) => {
    const { rows } = await client.query<{ most: number; backend: number }>(
      `select current_setting('max_connections')::int as most, pg_backend_pid() as backend`,
    );
    const [{ most, backend } = { most: 0, backend: 0 }] = rows;
    return { maxConnections: most, pid: parentOf(backend, new URL(url).hostname) };
  });
}

/** Returns the parent of a backend, if it is a visible PostgreSQL on this host. */
function parentOf(backend: number, host: string): number | undefined {
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(host)) return undefined;
  const seen = readProcess(backend);
  return seen?.command.startsWith('postgres') === true ? seen.ppid : undefined;
}

interface Parts extends Settings {
  program: Pick<DatabaseProgram, 'kind' | 'version'> & { url: string };
  launched?: LaunchedProgram;
  token: string;
  countsStatements?: boolean;
  recordLeftoverServer?: CompanionContext['recordLeftoverServer'];
}

class StandingDatabase implements Database {
  readonly kind: Database['kind'];
  readonly version: string;
  readonly maxConnections: number;
  readonly #parts: Parts;
  #opened = 0;

  constructor(parts: Parts) {
    this.kind = parts.launched === undefined ? 'external' : 'embedded';
    this.version = parts.program.version;
    this.maxConnections = parts.maxConnections;
    this.#parts = parts;
  }

  async openEmpty(): Promise<OpenDatabase> {
    const { program, token, countsStatements } = this.#parts;
    const name = `${prefixOf(token)}${++this.#opened}`;
    const url = Object.assign(new URL(program.url), { pathname: `/${name}` }).href;
    await this.#ask(program.url, `create database ${name}`);
    hide(secretsOf({ url }));
    return {
      address: addressOf(url, USUAL_PORT),
      ...(countsStatements && { count: () => this.#ask(program.url, STATEMENTS, [name]) }),
      [Symbol.asyncDispose]: async () => {
        await this.#ask(program.url, `drop database ${name} with (force)`);
      },
    };
  }

  async open({ rows, inserts }: Table): Promise<OpenTable> {
    const opened = await this.openEmpty();
    const { url } = opened.address;
    await this.#ask(url, CREATE);
    await this.#ask(url, FILL, [rows.map((row) => row.name), rows.map((row) => row.email)]);
    await this.#ask(url, 'vacuum analyze users');
    return {
      env: { DATABASE_URL: url },
      count: opened.count,
      countInserts: async () => {
        await this.#untilAlone(url);
        const row = [inserts?.name, inserts?.email];
        const [found] = await this.#ask<{ count: number }>(url, COUNT, row);
        return found?.count ?? 0;
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  process(): CompanionProcess | undefined {
    const { pid, launched } = this.#parts;
    if (launched !== undefined) return launched.process();
    return pid === undefined ? undefined : { pid };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { launched, program, token, recordLeftoverServer } = this.#parts;
    if (launched !== undefined) return launched[Symbol.asyncDispose]();
    // A table that could not be closed has left its database behind.
    const dropped = await dropAll(program.url, token).then(
      () => true,
      () => false,
    );
    if (dropped) recordLeftoverServer?.(undefined);
  }

  /** Waits until no server is connected: pending transactions are then either stored or rolled back. */
  async #untilAlone(url: string): Promise<void> {
    let count = 0;
    const isAlone = async (): Promise<boolean> => {
      const [found] = await this.#ask<{ count: number }>(url, OTHERS);
      count = found?.count ?? 0;
      return count === 0;
    };
    const fallback = (): never => {
      throw this.#wrong(`still has ${count} connections of a server that has ended`);
    };
    await pWaitFor(isAlone, { interval: POLL_MS, timeout: { milliseconds: DRAIN_MS, fallback } });
  }

  async #ask<T extends QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
    const end = this.#parts.launched && describeEnd(this.#parts.launched);
    if (end !== undefined) throw this.#wrong(`has ended (${end})`);
    return query<T>(url, text, values).catch((error: Error) => {
      throw this.#wrong(`refuses a command: ${wordsOf(error)}`);
    });
  }

  #wrong(what: string): DatabaseError {
    return new DatabaseError(this, what);
  }
}

const CREATE = `create table users (
  id integer generated by default as identity primary key, name text not null, email text not null
)`;
const FILL = `insert into users (name, email)
  select name, email from unnest($1::text[], $2::text[]) with ordinality as given (name, email, place) order by place`;
const COUNT = 'select count(*)::int as count from users where name = $1 and email = $2';
const STATEMENTS = `select query as text, calls::float8 as count, total_exec_time as ms
  from pg_stat_statements join pg_database on pg_database.oid = dbid where datname = $1`;
const OTHERS = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** The note of a killed command about its databases. */
export interface Debt {
  run: string;
  token: string;
  /** As `serverOf` returns it; absent if there are none. */
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
    if (databaseUrl === '' || serverOf(parseUrl(databaseUrl)) !== database)
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
  const found = await query<{ datname: string }>(
    url,
    'select datname from pg_database where starts_with(datname, $1)',
    [prefix],
  );
  const names = found.map(({ datname }) => datname).filter((name) => /^\d+$/.test(name.slice(prefix.length)));
  for (const name of names) await query(url, `drop database if exists ${name} with (force)`);
  return names;
}

/** Returns the server of a URL without user and password. */
function serverOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** Runs one query on a separate connection. Throws the errors of pg. */
function query<T extends QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  return connect(url, async (client) => (await client.query<T>(text, values)).rows);
}

async function connect<T>(connectionString: string, use: (client: Client) => Promise<T>): Promise<T> {
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
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

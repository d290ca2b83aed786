/** The database behind a workload: PostgreSQL of our own for the length of a run, or the one that `DATABASE_URL` names. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type QueryResultRow } from 'pg';
import type { Table } from '../../catalogue/workloads/workload.ts';
import { BenchError } from '../../errors.ts';
import type { Plan } from '../../plan/plan.ts';
import { describeEnd, type Server } from '../../machine/launch.ts';
import type { Placed } from '../../machine/placement.ts';
import { findPostgres, launchPostgres, type Postgres } from './postgres.ts';
import { isToken } from '../../machine/scratch.ts';
import { readProcess } from '../../machine/procfs.ts';
import { CompanionError, type CompanionProcess } from '../companion.ts';

const START_MS = 60_000;
const POLL_MS = 20;
/** How long the last transactions of a server that has ended may take. */
const DRAIN_MS = 20_000;
/** `drop database ... with (force)` */
const OLDEST = 13;

/** What can hold the table. */
export type DatabaseProgram =
  | { kind: 'embedded'; version: string; postgres: Postgres }
  | { kind: 'external'; version: string; url: string };

/** Something is wrong with the database, and so with nobody's figure. */
export class DatabaseError extends CompanionError {
  constructor({ kind, version }: Pick<DatabaseProgram, 'kind' | 'version'>, what: string) {
    super(`the database (${kind} ${version}) ${what}`, 'database');
  }
}

/** A running database. Disposing ends one of our own. */
export interface Database extends AsyncDisposable {
  kind: DatabaseProgram['kind'];
  version: string;
  maxConnections: number;
  /** A new table, in a database of its own. Throws a database error when that cannot be made. */
  open(table: Table): Promise<OpenTable>;
  /** The process to sample; undefined when its processes are not known. */
  process(): CompanionProcess | undefined;
}

/** The table of one trial. Disposing removes it. */
export interface OpenTable extends AsyncDisposable {
  /** What its server has to be started with. */
  env: Record<string, string>;
  /** The rows that hold what an insert of this trial holds, when nobody is connected any more. Throws a database error when somebody stays. */
  countInserts(): Promise<number>;
}

/** Finds the one that `DATABASE_URL` names, else our own. Throws a usage error for one that cannot be used, a toolchain error where there is none of our own. */
export async function findDatabase(asked = process.env['DATABASE_URL']): Promise<DatabaseProgram> {
  if (asked !== undefined && asked !== '') return findExternal(asked);
  const postgres = await findPostgres();
  return { kind: 'embedded', version: postgres.version, postgres };
}

async function findExternal(asked: string): Promise<DatabaseProgram> {
  const url = parseUrl(asked);
  const hint = 'correct DATABASE_URL, or unset it: PostgreSQL of our own is then started';
  const [found] = await query<{ version: string; may: boolean }>(
    url,
    `select current_setting('server_version') as version, rolcreatedb or rolsuper as may
     from pg_roles where rolname = current_user`,
  ).catch((error: Error): never => {
    const { host, pathname } = new URL(url);
    throw new BenchError('usage', `DATABASE_URL: ${host}${pathname}: ${wordsOf(error)}`, hint);
  });
  const version = found?.version.split(' ')[0] ?? 'unknown';
  if (Number.parseInt(version, 10) < OLDEST)
    throw new BenchError('usage', `DATABASE_URL: PostgreSQL ${version} is older than ${OLDEST}`, hint);
  if (found?.may !== true) {
    throw new BenchError(
      'usage',
      'DATABASE_URL: its user may not create databases, and each trial has one of its own',
      'alter role … createdb; or unset DATABASE_URL: PostgreSQL of our own is then started',
    );
  }
  return { kind: 'external', version, url };
}

/** Throws a usage error, which tells nothing of the URL: it holds a password. */
function parseUrl(asked: string): string {
  const url = URL.parse(asked.replace(/^postgres:/, 'postgresql:'));
  if (url?.protocol !== 'postgresql:' || url.hostname === '' || url.pathname.length < 2) {
    throw new BenchError(
      'usage',
      'DATABASE_URL: not the address of a database',
      'e.g. DATABASE_URL=postgresql://user:password@127.0.0.1:5432/name; without it PostgreSQL of our own is started',
    );
  }
  return url.href;
}

/** What a database is started with. */
export interface DatabaseSpec {
  /** Marks its processes and the databases of its trials, so that a later start can prove what is its own. */
  token: string;
  /** The run's folder: its log is kept there. */
  folder: string;
  placed: Pick<Placed, 'beside'>;
  /** Told the server on which databases of trials are before there is one, and undefined when none is left. */
  owe?: (server: string | undefined) => void;
}

/** Starts one of our own, or turns to the one that is there. Throws a toolchain error when ours does not answer in time. */
export async function startDatabase(program: DatabaseProgram, spec: DatabaseSpec): Promise<Database> {
  if (program.kind === 'external') {
    const settings = await readSettings(program.url);
    spec.owe?.(serverOf(program.url));
    return new StandingDatabase({ program, token: spec.token, owe: spec.owe, ...settings });
  }
  const { server, url } = await launchPostgres(program.postgres, spec);
  try {
    const settings = await untilReady(server, url);
    return new StandingDatabase({ program: { ...program, url }, server, token: spec.token, ...settings });
  } catch (error) {
    await server.stop();
    throw new BenchError(
      'toolchain',
      `PostgreSQL for the workload does not start: ${(error as Error).message}`,
      'set DATABASE_URL to a PostgreSQL of yours',
    );
  }
}

/** How many connections of it are not for the servers: those for superusers, and the harness's. */
const RESERVED = 5;

/** Throws a usage error when the servers that stand at once may open more connections than there are. */
export function refuseCrowd(
  { params = {}, workers, duel, targets }: Pick<Plan, 'params' | 'workers' | 'duel' | 'targets'>,
  database: Database,
): void {
  const { pool = 0, overflow = 0 } = params;
  const servers = duel === true ? targets.length : 1;
  const most = servers * workers * (pool + overflow);
  if (most <= database.maxConnections - RESERVED) return;
  throw new BenchError(
    'usage',
    `${most} connections to a database that takes ${database.maxConnections}: ${servers} server, ${workers} workers, a pool of ${pool} + ${overflow} each`,
    'ask for less: --workers, --param pool=, --param overflow=',
  );
}

/** What it says of itself. */
interface Settings {
  maxConnections: number;
  /** The process that all others are children of, where it is on this host. */
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

/** The parent of a backend that is on this host and can be seen here. */
function parentOf(backend: number, host: string): number | undefined {
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(host)) return undefined;
  const seen = readProcess(backend);
  return seen?.command.startsWith('postgres') === true ? seen.ppid : undefined;
}

async function untilReady(server: Server, url: string): Promise<Settings> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    try {
      return { ...(await readSettings(url)), pid: server.pid() };
    } catch (error) {
      const end = describeEnd(server);
      if (end !== undefined) throw new Error(end, { cause: error });
      if (performance.now() > deadline)
        throw new Error([wordsOf(error as Error), ...server.logTail().slice(-1)].filter(Boolean).join(': '), {
          cause: error,
        });
    }
    await sleep(POLL_MS);
  }
}

interface Parts extends Settings {
  program: Pick<DatabaseProgram, 'kind' | 'version'> & { url: string };
  server?: Server;
  token: string;
  owe?: DatabaseSpec['owe'];
}

class StandingDatabase implements Database {
  readonly kind: DatabaseProgram['kind'];
  readonly version: string;
  readonly maxConnections: number;
  readonly #parts: Parts;
  #opened = 0;

  constructor(parts: Parts) {
    this.kind = parts.program.kind;
    this.version = parts.program.version;
    this.maxConnections = parts.maxConnections;
    this.#parts = parts;
  }

  async open({ rows, inserts }: Table): Promise<OpenTable> {
    const { program, token } = this.#parts;
    const name = `${prefixOf(token)}${++this.#opened}`;
    const url = Object.assign(new URL(program.url), { pathname: `/${name}` }).href;
    await this.#ask(program.url, `create database ${name}`);
    await this.#ask(url, CREATE);
    await this.#ask(url, FILL, [rows.map((row) => row.name), rows.map((row) => row.email)]);
    await this.#ask(url, 'vacuum analyze users');
    return {
      env: { DATABASE_URL: url },
      countInserts: async () => {
        await this.#untilAlone(url);
        const row = [inserts?.name, inserts?.email];
        const [found] = await this.#ask<{ count: number }>(url, COUNT, row);
        return found?.count ?? 0;
      },
      [Symbol.asyncDispose]: async () => {
        await this.#ask(program.url, `drop database ${name} with (force)`);
      },
    };
  }

  process(): CompanionProcess | undefined {
    const { pid, server } = this.#parts;
    return pid === undefined ? undefined : { pid, cgroup: server?.cgroup };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { server, program, token, owe } = this.#parts;
    if (server !== undefined) return void (await server.stop());
    // A table that could not be closed has left its database.
    const dropped = await dropAll(program.url, token).then(
      () => true,
      () => false,
    );
    if (dropped) owe?.(undefined);
  }

  /** Waits until no server is connected: what it had under way is then stored or not. */
  async #untilAlone(url: string): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    for (;;) {
      const [found] = await this.#ask<{ count: number }>(url, OTHERS);
      const count = found?.count ?? 0;
      if (count === 0) return;
      if (performance.now() > deadline)
        throw this.#wrong(`still has ${count} connections of a server that has ended`);
      await sleep(POLL_MS);
    }
  }

  async #ask<T extends QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
    const end = this.#parts.server && describeEnd(this.#parts.server);
    if (end !== undefined) throw this.#wrong(`has ended (${end})`);
    return query<T>(url, text, values).catch((error: Error) => {
      throw this.#wrong(`does not do what it is asked: ${wordsOf(error)}`);
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
const OTHERS = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** What a command that was killed noted of its databases. */
export interface Debt {
  run: string;
  token: string;
  /** As `serverOf` tells it; absent where there are none. */
  database?: string;
}

/**
 * Removes the databases that a killed run has left on the server of `DATABASE_URL`. Returns that in words, and whether
 * some are still owed, because the server is not the one that is asked now or refuses.
 */
export async function removeDatabases(
  { run, token, database }: Debt,
  asked = process.env['DATABASE_URL'] ?? '',
): Promise<{ lines: string[]; isOwed: boolean }> {
  if (database === undefined) return { lines: [], isOwed: false };
  const owed = (why: string): { lines: string[]; isOwed: boolean } => ({
    lines: [`run ${run} had been killed and left databases (${prefixOf(token)}…) on ${database}: ${why}`],
    isOwed: true,
  });
  try {
    if (asked === '' || serverOf(parseUrl(asked)) !== database)
      return owed('the next command with that DATABASE_URL drops them');
    const names = await dropAll(parseUrl(asked), token);
    const lines = names.map((name) => `run ${run} had been killed and left the database ${name}: dropped it`);
    return { lines, isOwed: false };
  } catch (error) {
    return owed(wordsOf(error as Error));
  }
}

/** Drops the databases of a token, and returns their names. Throws what pg throws. */
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

/** The server that a URL names, without the user and the password. */
function serverOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** How the names of the databases of a run's trials begin. Throws when the token is none. */
function prefixOf(token: string): string {
  if (!isToken(token)) throw new Error(`${JSON.stringify(token)} is not a token`);
  return `bench_${token}_`;
}

/** One query on a connection of its own. Throws what pg throws. */
function query<T extends QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  return connect(url, async (client) => (await client.query<T>(text, values)).rows);
}

async function connect<T>(connectionString: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 10_000 });
  // What ends a connection that nobody waits on is told to the next query.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** An error in words: one of several addresses that all refused has none of its own. */
function wordsOf(error: Error): string {
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}

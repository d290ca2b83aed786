/** MySQL or MariaDB, as installed: its data live as long as the run. */
import { randomBytes } from 'node:crypto';
import { ToolchainError } from 'bench-model/errors';
import { describeEnd, launch } from 'bench-machine/launch';
import { findProgram, foldersOnPath } from 'bench-machine/path';
import { findFreePort, toAuthority } from 'bench-machine/ports';
import { hide, secretsOf } from 'bench-machine/redact';
import { run } from 'bench-machine/subprocess';
import { lastLine } from 'bench-targets/prepare/failures';
import { launchedProgram, type LaunchContext, type LaunchedProgram } from '../companion.ts';
import type { CountedStatement } from '../../measure/caused.ts';
import {
  addressOf,
  DatabaseError,
  makeScratch,
  MAX_CONNECTIONS,
  prefixOf,
  QUERY_MS,
  untilReady,
  USER,
  wordsOf,
  type DatabaseServer,
  type FoundDatabase,
} from './server.ts';

const NAME = 'MySQL';
const HINT =
  'install it: apt-get install mariadb-server; brew install mariadb; or, if yours runs elsewhere, export its address and omit the service';
const HOST = '127.0.0.1';
const USUAL_PORT = 3306;
/** Folders that hold servers and are not on the PATH of every user. */
const OF_SERVERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec'];

/**
 * The start script: `$1` creates the system tables, with its option `$2`; `$3` the server, `$4` the folder, `$5` the port. The
 * settings are the defaults of the program, not those of the machine. MySQL refuses to start if it cannot read the folder
 * for files of statements, and that of a package belongs to another user.
 */
const START = [
  '"$1" --no-defaults "$2" "--datadir=$4/data" "--secure-file-priv=$4"',
  '&& exec "$3" --no-defaults "--datadir=$4/data" "--secure-file-priv=$4" "--socket=$4/socket"',
  `"--init-file=$4/users.sql" --bind-address=${HOST} "--port=$5" --skip-name-resolve --max-connections=${MAX_CONNECTIONS}`,
  // The default of MySQL; that of MariaDB depends on its version.
  '--character-set-server=utf8mb4',
  // A second protocol of MySQL, which takes a fixed port.
  '--loose-mysqlx=OFF',
  // The data are discarded, so the server need not write them to disk first.
  '--innodb-fast-shutdown=2',
].join(' ');

/** The programs of this machine. */
interface Mysql extends Pick<FoundDatabase, 'kind' | 'version'> {
  server: string;
  /** The program that creates the system tables, with its option. */
  create: readonly [program: string, option: string];
}

/** Finds MySQL or MariaDB in these folders. Throws a toolchain error if there is none, or if it does not run. */
export async function findMysql(folders = [...foldersOnPath(), ...OF_SERVERS]): Promise<FoundDatabase> {
  const find = (names: string[]): string | undefined =>
    names.flatMap((name) => findProgram(name, folders) ?? [])[0];
  const server = find(['mysqld', 'mariadbd']);
  if (server === undefined) throw new ToolchainError(`${NAME} is not on PATH: no mysqld, no mariadbd`, HINT);
  const { stdout } = await run([server, '--no-defaults', '--version']).catch(
    (error: { stderr?: string } & Error) => {
      throw new ToolchainError(`${NAME} does not run: ${lastLine(error.stderr) || error.message}`, HINT);
    },
  );
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'unknown';
  const found = (kind: string, create: Mysql['create']): FoundDatabase => {
    const mysql: Mysql = { kind, version, server, create };
    return { kind, version, start: (context) => startMysql(mysql, context) };
  };
  if (!stdout.includes('MariaDB')) return found('mysql', [server, '--initialize-insecure']);
  const create = find(['mariadb-install-db', 'mysql_install_db']);
  if (create === undefined)
    throw new ToolchainError(`${server} is MariaDB, but mariadb-install-db is not on PATH`, HINT);
  return found('mariadb', [create, '--skip-test-db']);
}

/** Starts a new, empty server. It may not answer yet. */
async function launchMysql(
  { server: program, create }: Mysql,
  { token, folder, placed, countsStatements = false }: LaunchContext,
): Promise<LaunchedProgram> {
  const port = await findFreePort(HOST);
  const password = randomBytes(16).toString('hex');
  // Each statement has a line. Others reach no account: root has no password, but only the socket in the private folder.
  const users = `create user '${USER}'@'${HOST}' identified by '${password}';
grant all privileges on *.* to '${USER}'@'${HOST}' with grant option;
`;
  const { folder: scratch, owner } = makeScratch(token, 'mysql', 'users.sql', users);
  const server = await launch({
    id: 'mysql',
    token,
    command: [
      ...owner,
      'sh',
      '-c',
      countsStatements ? `${START} --performance-schema` : START,
      'sh',
      ...create,
      program,
      scratch,
      '{port}',
    ],
    cwd: scratch,
    // Its owner may not write to that of Bench.
    env: { TMPDIR: scratch },
    host: HOST,
    port,
    prefix: placed.beside,
    scratch,
    folder,
  });
  return launchedProgram(server, `mysql://${USER}:${password}@${toAuthority({ host: HOST, port })}/`);
}

/** Starts the server, and waits until it answers. Throws a toolchain error if it does not answer in time. */
async function startMysql(program: Mysql, context: LaunchContext): Promise<DatabaseServer> {
  const launched = await launchMysql(program, context);
  await untilReady(launched, (url) => query(url, 'select 1'), { name: NAME, hint: HINT });
  const prefix = prefixOf(context.token);
  let opened = 0;
  const ask = <T>(text: string): Promise<T[]> => {
    const end = describeEnd(launched);
    if (end !== undefined) throw new DatabaseError(program, `has ended (${end})`);
    return query<T>(launched.url, text).catch((error: Error) => {
      throw new DatabaseError(program, `refuses a command: ${wordsOf(error)}`);
    });
  };
  return {
    async openEmpty() {
      const name = `${prefix}${++opened}`;
      const url = Object.assign(new URL(launched.url), { pathname: `/${name}` }).href;
      await ask(`create database ${name}`);
      hide(secretsOf({ url }));
      return {
        address: addressOf(url, USUAL_PORT),
        ...(context.countsStatements && { count: () => ask<CountedStatement>(countIn(name)) }),
        async [Symbol.asyncDispose]() {
          await ask(`drop database ${name}`);
        },
      };
    },
    process: () => launched.process(),
    [Symbol.asyncDispose]: () => launched[Symbol.asyncDispose](),
  };
}

/** Counts the statements in a database. Times are in ps. */
const countIn = (database: string): string => `
  select coalesce(digest_text, '') as text, cast(count_star as double) as count, sum_timer_wait / 1e9 as ms
  from performance_schema.events_statements_summary_by_digest where schema_name = '${database}'`;

/** Runs one statement on a separate connection. Throws the errors of mysql2. */
async function query<T>(uri: string, sql: string): Promise<T[]> {
  // Loaded here: only runs with this database need it, and every command imports this module.
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ uri, connectTimeout: 10_000 });
  // If the connection breaks between statements, the next one reports it.
  connection.on('error', () => {});
  try {
    const [rows] = await connection.query({ sql, timeout: QUERY_MS });
    return rows as T[];
  } finally {
    connection.destroy();
  }
}

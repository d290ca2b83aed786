/** MySQL or MariaDB, as installed: its data live as long as the run. */
import { randomBytes } from 'node:crypto';
import { ToolchainError } from 'bench-model/errors';
import { launch } from 'bench-machine/launch';
import { findProgram, foldersOnPath } from 'bench-machine/path';
import { findFreePort, toAuthority } from 'bench-machine/ports';
import { run } from 'bench-machine/subprocess';
import { lastLine } from 'bench-targets/prepare/failures';
import { launchedProgram, type CompanionContext, type LaunchedProgram } from '../companion.ts';
import {
  awaitServer,
  makeScratch,
  MAX_CONNECTIONS,
  QUERY_MS,
  USER,
  type Dialect,
  type FoundDatabase,
} from './server.ts';

const HOST = '127.0.0.1';
/** Folders that hold servers and are not on the PATH of every user. */
const OF_SERVERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec'];

const MYSQL: Dialect = {
  name: 'MySQL',
  hint: 'install it: apt-get install mariadb-server; brew install mariadb; or, if yours runs elsewhere, export its address and omit the service',
  usualPort: 3306,
  async query<T>(uri: string, sql: string) {
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
  },
  drop: (name) => `drop database ${name}`,
  // Times are in ps.
  statementsIn: (name) => `
    select coalesce(digest_text, '') as text, cast(count_star as double) as count, sum_timer_wait / 1e9 as ms
    from performance_schema.events_statements_summary_by_digest where schema_name = '${name}'`,
};

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

/** The server program, and the program that creates its system tables, with its option. */
interface Programs {
  server: string;
  create: readonly [program: string, option: string];
}

/** Finds MySQL or MariaDB in these folders. Throws a toolchain error if there is none, or if it does not run. */
export async function findMysql(folders = [...foldersOnPath(), ...OF_SERVERS]): Promise<FoundDatabase> {
  const { name, hint } = MYSQL;
  const find = (names: string[]): string | undefined =>
    names.flatMap((one) => findProgram(one, folders) ?? [])[0];
  const server = find(['mysqld', 'mariadbd']);
  if (server === undefined) throw new ToolchainError(`${name} is not on PATH: no mysqld, no mariadbd`, hint);
  const { stdout } = await run([server, '--no-defaults', '--version']).catch(
    (error: { stderr?: string } & Error) => {
      throw new ToolchainError(`${name} does not run: ${lastLine(error.stderr) || error.message}`, hint);
    },
  );
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'unknown';
  const found = (kind: string, create: Programs['create']): FoundDatabase => ({
    kind,
    version,
    start: async (context) =>
      awaitServer(await launchMysql({ server, create }, context), MYSQL, { kind, version }, context),
  });
  if (!stdout.includes('MariaDB')) return found('mysql', [server, '--initialize-insecure']);
  const create = find(['mariadb-install-db', 'mysql_install_db']);
  if (create === undefined)
    throw new ToolchainError(`${server} is MariaDB, but mariadb-install-db is not on PATH`, hint);
  return found('mariadb', [create, '--skip-test-db']);
}

/** Starts a new, empty server. It may not answer yet. */
async function launchMysql(
  { server: program, create }: Programs,
  { token, folder, placed, countsStatements = false }: CompanionContext,
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

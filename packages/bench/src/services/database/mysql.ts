/** MySQL or MariaDB, as installed: its data live as long as the run. */
import { ToolchainError } from 'bench-model/errors';
import { findProgram, foldersOnPath } from 'bench-machine/path';
import { run } from 'bench-machine/subprocess';
import { lastLine } from 'bench-targets/prepare/failures';
import {
  MAX_CONNECTIONS,
  QUERY_MS,
  startDatabase,
  USER,
  type Dialect,
  type FoundDatabase,
} from './server.ts';

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
 * The start script: `$1` creates the system tables, with its option `$2`; `$3` the server, `$4` the folder, `$5` the address, `$6` the port. The
 * settings are the defaults of the program, not those of the machine. MySQL refuses to start if it cannot read the folder
 * for files of statements, and that of a package belongs to another user.
 */
const START = [
  '"$1" --no-defaults "$2" "--datadir=$4/data" "--secure-file-priv=$4"',
  '&& exec "$3" --no-defaults "--datadir=$4/data" "--secure-file-priv=$4" "--socket=$4/socket"',
  `"--init-file=$4/users.sql" "--bind-address=$5" "--port=$6" --skip-name-resolve --max-connections=${MAX_CONNECTIONS}`,
  // The default of MySQL; that of MariaDB depends on its version.
  '--character-set-server=utf8mb4',
  // A second protocol of MySQL, which takes a fixed port.
  '--loose-mysqlx=OFF',
  // The data are discarded, so the server need not write them to disk first.
  '--innodb-fast-shutdown=2',
].join(' ');

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
  /** `create` is the program that creates the system tables, with its option. */
  const found = (kind: string, create: readonly [program: string, option: string]): FoundDatabase => ({
    kind,
    version,
    maxConnections: MAX_CONNECTIONS,
    start(context) {
      const starting = {
        kind,
        version,
        dialect: MYSQL,
        id: 'mysql',
        file: writeUsers,
        script: context.countsStatements ? `${START} --performance-schema` : START,
        programs: () => [...create, server],
        url: (authority: string) => `mysql://${authority}/`,
      };
      return startDatabase(starting, context);
    },
  });
  if (!stdout.includes('MariaDB')) return found('mysql', [server, '--initialize-insecure']);
  const create = find(['mariadb-install-db', 'mysql_install_db']);
  if (create === undefined)
    throw new ToolchainError(`${server} is MariaDB, but mariadb-install-db is not on PATH`, hint);
  return found('mariadb', [create, '--skip-test-db']);
}

/** Each statement has a line. Others reach no account: root has no password, but only the socket in the private folder. */
function writeUsers(password: string, host: string): readonly [name: string, text: string] {
  const user = `'${USER}'@'${host}'`;
  const statements = [
    `create user ${user} identified by '${password}';`,
    `grant all privileges on *.* to ${user} with grant option;`,
  ];
  return ['users.sql', `${statements.join('\n')}\n`];
}

/** A database server of any kind: its start, its failures, and the empty databases on it. */
import { randomBytes } from 'node:crypto';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseAddress } from 'bench-targets/catalogue/services';
import { describeEnd, launch, type LaunchSpec } from 'bench-machine/launch';
import { findFreePort, toAuthority } from 'bench-machine/ports';
import { runSync } from 'bench-machine/subprocess';
import { hide, secretsOf } from 'bench-machine/redact';
import { isToken, makeScratchFolder } from 'bench-machine/scratch';
import { orUndefined, ToolchainError } from 'bench-model/errors';
import type { CountedStatement } from '../../measure/caused.ts';
import {
  CompanionError,
  processOf,
  untilReady,
  type CompanionContext,
  type CompanionProcess,
} from '../companion.ts';

const HOST = '127.0.0.1';
const START_SECONDS = 60;
/** The longest time for one statement: creating a database copies a template. */
export const QUERY_MS = 60_000;
/** More connections than any plan needs, and as many for every plan. */
export const MAX_CONNECTIONS = 500;
/** The user that owns everything. */
export const USER = 'bench';
/** Databases refuse to run as root; they then run as this user, Linux's `nobody`. */
export const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] as const;

/** A server of databases that was found: one to start, or one that somebody else runs. */
export interface FoundDatabase {
  kind: string;
  version: string;
  maxConnections: number;
  /** Throws a toolchain error if it does not start. */
  start(context: CompanionContext): Promise<DatabaseServer>;
}

/** How to talk to database servers of one kind. */
export interface Dialect {
  /** Its name, and what to do if it does not start. */
  name: string;
  hint: string;
  usualPort: number;
  /** Runs one statement on a separate connection. Throws the errors of its driver. */
  query<T extends object>(url: string, text: string, values?: readonly unknown[]): Promise<T[]>;
  /** Drops a database, even if a server is still connected. */
  drop(name: string): string;
  /** Selects each statement in a database so far, with its count and its time in ms. */
  statementsIn(name: string): string;
}

/** A failure of the database, which says nothing about the server. */
export class DatabaseError extends CompanionError {
  constructor({ kind, version }: Pick<FoundDatabase, 'kind' | 'version'>, what: string) {
    super(`the database (${kind} ${version}) ${what}`);
  }
}

/** An empty database. Disposing removes it. */
export interface OpenDatabase extends AsyncDisposable {
  /** Its address with the password. */
  address: DatabaseAddress;
  /** Counts the statements in it so far. Absent if its server was not told to. */
  count?: () => Promise<CountedStatement[]>;
}

/** A running server of databases. Disposing stops it if it was started here. */
export interface DatabaseServer extends AsyncDisposable, Omit<FoundDatabase, 'start'> {
  /** The address of a database in which others can be created, with the password. */
  url: string;
  /** Returns the process to sample; undefined if its processes are unknown. */
  process(): CompanionProcess | undefined;
  /** Creates an empty database. Throws a database error if that fails. */
  openEmpty(): Promise<OpenDatabase>;
  /** Runs one statement in a database of it. Throws a database error if that fails. */
  ask<T extends object>(url: string, text: string, values?: readonly unknown[]): Promise<T[]>;
}

interface Running extends Omit<DatabaseServer, 'openEmpty' | 'ask'> {
  /** Returns how it has ended; undefined if it runs. Absent if that is not known. */
  ended?: () => string | undefined;
}

/** Returns a running server that can be asked. */
export function askable(
  { ended, ...running }: Running,
  dialect: Dialect,
  { token, countsStatements = false }: CompanionContext,
): DatabaseServer {
  let opened = 0;
  const server: DatabaseServer = {
    ...running,
    async openEmpty() {
      const name = `${prefixOf(token)}${++opened}`;
      const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
      await server.ask(server.url, `create database ${name}`);
      hide(secretsOf({ url }));
      return {
        address: addressOf(url, dialect.usualPort),
        ...(countsStatements && { count: () => server.ask(server.url, dialect.statementsIn(name)) }),
        [Symbol.asyncDispose]: async () => {
          await server.ask(server.url, dialect.drop(name));
        },
      };
    },
    async ask<T extends object>(url: string, text: string, values?: readonly unknown[]) {
      const end = ended?.();
      if (end !== undefined) throw new DatabaseError(server, `has ended (${end})`);
      return dialect.query<T>(url, text, values).catch((error: Error) => {
        throw new DatabaseError(server, `refuses a command: ${wordsOf(error)}`);
      });
    },
  };
  return server;
}

/** Returns the address of a database by its URL, in the parts that servers without a URL take. */
function addressOf(url: string, usualPort: number): DatabaseAddress {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    url,
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? String(usualPort) : port,
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    name: decodeURIComponent(pathname.slice(1)),
  };
}

/** Returns the prefix of the database names of a run. Throws if the token is not valid. */
export function prefixOf(token: string): string {
  if (!isToken(token)) throw new Error(`${JSON.stringify(token)} is not a token`);
  return `bench_${token}_`;
}

/** How to start a database of one run. */
interface Starting extends Pick<FoundDatabase, 'kind' | 'version'> {
  dialect: Dialect;
  /** Names its log and its folder. */
  id: string;
  /** The file in its private folder that gives the user of Bench this password, from this host. */
  file: (password: string, host: string) => readonly [name: string, text: string];
  /** The start script, whose words are `programs`, the folder, the address and the port. */
  script: string;
  /** Returns the programs of the script. Under root, those must be open to the owner of the folder. */
  programs: (folder: string, owner: readonly string[]) => readonly string[];
  /** Returns the address by `user:password@host:port`. */
  url: (authority: string) => string;
  stopSignal?: NonNullable<LaunchSpec['stopSignal']>;
}

/**
 * Starts a new, empty server with its data in a private folder. Under root, it belongs to nobody. Throws a toolchain error if it
 * does not answer in time.
 */
export async function startDatabase(
  { kind, version, dialect, id, file, script, programs, url: urlOf, ...how }: Starting,
  context: CompanionContext,
): Promise<DatabaseServer> {
  const { token, folder, placed } = context;
  const port = await findFreePort(HOST);
  const password = randomBytes(16).toString('hex');
  const scratch = makeScratchFolder(token, id);
  const [name, text] = file(password, HOST);
  const path = join(scratch, name);
  writeFileSync(path, text, { mode: 0o600 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const one of [scratch, path]) chownSync(one, NOBODY, NOBODY);
  const owner = isRoot ? AS_NOBODY : [];
  const words = [...programs(scratch, owner), scratch, '{host}', '{port}'];
  const server = await launch({
    id,
    token,
    command: [...owner, 'sh', '-c', script, 'sh', ...words],
    cwd: scratch,
    // The owner of the folder may not write to that of Bench.
    env: { TMPDIR: scratch },
    host: HOST,
    port,
    prefix: placed.beside,
    scratch,
    folder,
    ...how,
  });
  const url = urlOf(`${USER}:${password}@${toAuthority({ host: HOST, port })}`);
  const look = (): Promise<string | undefined> =>
    dialect.query(url, 'select 1').then(() => undefined, wordsOf);
  const fail = (why: string): ToolchainError => new ToolchainError(`${dialect.name} ${why}`, dialect.hint);
  await untilReady(server, look, START_SECONDS, fail);
  const running: Running = {
    kind,
    version,
    maxConnections: MAX_CONNECTIONS,
    url,
    process: () => processOf(server),
    ended: () => describeEnd(server),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return askable(running, dialect, context);
}

/** Returns true if `nobody` can run a program. In a checkout below /root it cannot. */
export function isOpenToNobody(program: string): boolean {
  return orUndefined(() => runSync([...AS_NOBODY, 'test', '-x', program])) !== undefined;
}

/** Returns the text of an error. If several addresses refused, the outer error has none. */
export function wordsOf(error: Error): string {
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}

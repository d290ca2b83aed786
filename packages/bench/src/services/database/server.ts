/** A database server of any kind: its program, its start, its failures, and the empty databases on it. */
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import type { DatabaseAddress } from 'bench-targets/catalogue/apps/services';
import { describeEnd } from 'bench-machine/launch';
import { runSync } from 'bench-machine/subprocess';
import { isToken, makeScratchFolder } from 'bench-machine/scratch';
import { ToolchainError } from 'bench-model/errors';
import type { CountedStatement } from '../../measure/caused.ts';
import {
  CompanionError,
  type CompanionContext,
  type CompanionProcess,
  type LaunchContext,
  type LaunchedProgram,
} from '../companion.ts';

const START_MS = 60_000;
export const POLL_MS = 20;
/** The longest time for one statement: creating a database copies a template. */
export const QUERY_MS = 60_000;
/** More connections than any plan needs, and as many for every plan. */
export const MAX_CONNECTIONS = 500;
/** The user that owns everything. */
export const USER = 'bench';
/** Databases refuse to run as root; they then run as this user, Linux's `nobody`. */
export const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] as const;

/** A database server that can hold the table: one to start, or one that somebody else runs, with its password in the URL. */
export type DatabaseProgram = { kind: string; version: string } & (
  | { launch(context: LaunchContext): Promise<LaunchedProgram> }
  | { url: string }
);

/** A failure of the database, which says nothing about the server. */
export class DatabaseError extends CompanionError {
  constructor({ kind, version }: Pick<DatabaseProgram, 'kind' | 'version'>, what: string) {
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
export interface DatabaseServer extends AsyncDisposable {
  /** Creates an empty database. Disposing removes it. Throws a database error if that fails. */
  openEmpty(): Promise<OpenDatabase>;
  /** Returns the process to sample; undefined if its processes are unknown. */
  process(): CompanionProcess | undefined;
}

/** A server of databases that a manifest can use, found on this machine. */
export interface FoundDatabase extends Pick<DatabaseProgram, 'kind' | 'version'> {
  /** Throws a toolchain error if it does not start. */
  start(context: CompanionContext): Promise<DatabaseServer>;
}

/** Returns the address of a database by its URL, in the parts that servers without a URL take. */
export function addressOf(url: string, usualPort: number): DatabaseAddress {
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

/** A private folder of a database, and the prefix that runs a command as its owner. */
interface Scratch {
  folder: string;
  owner: readonly string[];
}

/** Makes the private folder of a database, with a file that only the database may read. Under root, both belong to nobody. */
export function makeScratch(token: string, what: string, file: string, text: string): Scratch {
  const folder = makeScratchFolder(token, what);
  writeFileSync(join(folder, file), text, { mode: 0o600 });
  if (process.getuid?.() !== 0) return { folder, owner: [] };
  for (const path of [folder, join(folder, file)]) chownSync(path, NOBODY, NOBODY);
  return { folder, owner: AS_NOBODY };
}

/** Returns true if `nobody` can run a program. In a checkout below /root it cannot. */
export function isOpenToNobody(program: string): boolean {
  try {
    runSync([...AS_NOBODY, 'test', '-x', program]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until a launched database answers a question, and returns the answer. Stops it and throws a toolchain error with this
 * hint if it does not answer in time.
 */
export async function untilReady<T>(
  launched: LaunchedProgram,
  ask: (url: string) => Promise<T>,
  { name, hint }: { name: string; hint: string },
): Promise<T> {
  const deadline = performance.now() + START_MS;
  const look = async () => {
    try {
      return pWaitFor.resolveWith(await ask(launched.url));
    } catch (error) {
      const end = describeEnd(launched);
      if (end !== undefined) throw new Error(end, { cause: error });
      if (performance.now() > deadline)
        throw new Error(
          [wordsOf(error as Error), ...launched.logTail().slice(-1)].filter(Boolean).join(': '),
          { cause: error },
        );
      return false;
    }
  };
  try {
    return await pWaitFor(look, { interval: POLL_MS });
  } catch (error) {
    await launched[Symbol.asyncDispose]();
    throw new ToolchainError(`${name} does not start: ${(error as Error).message}`, hint);
  }
}

/** Returns the text of an error. If several addresses refused, the outer error has none. */
export function wordsOf(error: Error): string {
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}

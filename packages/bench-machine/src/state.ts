/** The user's state folder, with the locks and the entries of running commands. */
import { lstatSync, type Stats } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { makeFolder } from './files.ts';

/** A folder that other users cannot write to, so that its content can be trusted. */
const PRIVATE = 0o700;

/**
 * Returns the state folder and creates it if necessary. The first of these applies: `BENCH_STATE`; a folder by the
 * name of the machine below `XDG_STATE_HOME` or `~/.local/state`, because homes can be shared. Throws a usage error for a
 * folder that cannot be created, or that other users could have written to.
 */
export function openState(env = process.env, home = homedir()): string {
  const { BENCH_STATE: own, XDG_STATE_HOME: state = '' } = env;
  if (own !== undefined && own !== '') return openPrivate(own);
  const machine = hostname().replaceAll(/[^\w.-]+/g, '_');
  return openPrivate(join(isAbsolute(state) ? state : join(home, '.local', 'state'), 'bench-http', machine));
}

const ELSEWHERE = 'set XDG_STATE_HOME to a folder of your own';

function openPrivate(folder: string): string {
  makeFolder(folder, { mode: PRIVATE, cure: ELSEWHERE });
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw new UsageError(`${folder} is not a folder`, `remove it, or ${ELSEWHERE}`);
  refuseForeign(folder, found, ELSEWHERE);
  if ((found.mode & 0o022) !== 0) {
    throw new UsageError(
      `${folder} is writable for other users, so its locks cannot be trusted`,
      `check its content, then chmod 700 ${folder}`,
    );
  }
  return folder;
}

/** Throws a usage error for a path that belongs to another user. */
export function refuseForeign(path: string, { uid }: Stats, cure = 'remove it'): void {
  const self = process.geteuid?.();
  if (self === undefined || uid === self) return;
  throw new UsageError(`${path} belongs to another user (uid ${uid}, not ${self})`, cure);
}

/** The folder of the user's own in which locks and the entries of running commands are. */
import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { BenchError } from '../errors.ts';

/** A folder that another user cannot write to: what lies in it can be believed. */
const PRIVATE = 0o700;

/**
 * Returns the folder, and makes it where it is not there: `BENCH_STATE`; else below `XDG_STATE_HOME` or
 * `~/.local/state`, by the name of the machine, because homes are shared; else below `XDG_RUNTIME_DIR`, which is the
 * last choice because a job without a session has none. Throws a usage error for a folder that others could have
 * written to.
 */
export function openState(env = process.env, home = homedir()): string {
  const { BENCH_STATE: own, XDG_STATE_HOME: state = '', XDG_RUNTIME_DIR: runtime = '' } = env;
  if (own !== undefined && own !== '') return openPrivate(own);
  const machine = hostname().replaceAll(/[^\w.-]+/g, '_');
  const kept = join(isAbsolute(state) ? state : join(home, '.local', 'state'), 'bench-http', machine);
  try {
    return openPrivate(kept);
  } catch (error) {
    if (!isAbsolute(runtime) || !(error instanceof UnmadeError)) throw error;
    return openPrivate(join(runtime, 'bench-http'));
  }
}

/** A folder that could not be made. */
class UnmadeError extends BenchError {}

const ELSEWHERE = 'set XDG_STATE_HOME to a folder of your own';

function openPrivate(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE });
  } catch (error) {
    // What is there and is no folder is named below.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new UnmadeError('usage', `${folder} cannot be made: ${(error as Error).message}`, ELSEWHERE);
  }
  const found = lstatSync(folder);
  if (!found.isDirectory())
    throw new BenchError('usage', `${folder} is not a folder`, `remove it, or ${ELSEWHERE}`);
  refuseForeign(folder, found, ELSEWHERE);
  if ((found.mode & 0o022) !== 0) {
    throw new BenchError(
      'usage',
      `${folder} is open to other users: they could have put locks into it`,
      `look into it, then chmod 700 ${folder}`,
    );
  }
  return folder;
}

/** Throws a usage error for what belongs to another user. */
export function refuseForeign(path: string, { uid }: Stats, cure = 'remove it'): void {
  const self = process.geteuid?.();
  if (self === undefined || uid === self) return;
  throw new BenchError('usage', `${path} belongs to another user (uid ${uid}, not ${self})`, cure);
}

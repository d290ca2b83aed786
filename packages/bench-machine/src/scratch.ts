/** Temporary folders of a command, named by the token that proves its ownership. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from 'bench-model/errors';

/** Returns a new token. It marks everything that a command leaves outside results and caches. */
export function newToken(): string {
  return randomBytes(8).toString('hex');
}

/** Returns true for a valid token. Nothing else may become part of a path or of a database name. */
export function isToken(token: unknown): token is string {
  return typeof token === 'string' && /^[0-9a-f]{16}$/.test(token);
}

/** Returns the path of a temporary folder. Throws if the token is not valid. */
export function scratchOf(token: string, what = 'database', temporary = tmpdir()): string {
  if (!isToken(token)) throw new Error(`${JSON.stringify(token)} is not a token`);
  return join(temporary, `bench-${what}-${token}`);
}

/** Makes a temporary folder that only its user can read, and returns its path. Throws a usage error if it cannot. */
export function makeScratchFolder(token: string, what: string): string {
  const folder = scratchOf(token, what);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new UsageError(
      `${folder} cannot be created: ${(error as Error).message}`,
      'set TMPDIR to a folder that you may write to',
    );
  }
  return folder;
}

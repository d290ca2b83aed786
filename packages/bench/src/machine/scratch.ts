/** The temporary folders of a command, by the token that proves them to be its own. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new token: it marks everything that one command leaves outside of results and caches. */
export function newToken(): string {
  return randomBytes(8).toString('hex');
}

/** Returns whether this can be a token. Nothing else may become part of a path or of the name of a database. */
export function isToken(token: unknown): token is string {
  return typeof token === 'string' && /^[0-9a-f]{16}$/.test(token);
}

/** The path of a temporary folder. Throws when the token is none. */
export function scratchOf(token: string, what = 'database', temporary = tmpdir()): string {
  if (!isToken(token)) throw new Error(`${JSON.stringify(token)} is not a token`);
  return join(temporary, `bench-${what}-${token}`);
}

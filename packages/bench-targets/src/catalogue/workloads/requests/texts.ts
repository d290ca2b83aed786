/** Texts that are written in place or in a file: `{"n":1}` or `@order.json`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { orUndefined, UsageError } from 'bench-model/errors';

/** Returns a text, or the contents of the file named by `@file`. Throws a usage error that begins with `where` if it cannot be read. */
export function readText(text: string, where: string): string {
  if (!text.startsWith('@')) return text;
  const read = orUndefined(() => readFileSync(text.slice(1), 'utf8'));
  if (read !== undefined) return read;
  throw new UsageError(`${where} ${text}: the file cannot be read`, 'check the path after the @');
}

/** Throws a usage error if a file has another digest than when the run was planned. */
export function refuseChanged(planned: string | undefined, now: string, what: string): void {
  if (planned === undefined || planned === now) return;
  throw new UsageError(
    `${what}: the file has changed since the run began`,
    'restore the file, or start a new run',
  );
}

/** Returns the SHA-256 of a text in hexadecimal. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

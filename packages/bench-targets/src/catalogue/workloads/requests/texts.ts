/** Texts that are written in place or in a file: `{"n":1}` or `@order.json`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { UsageError } from 'bench-model/errors';

/** Reads texts. Each file is read once. */
export class Texts {
  /** SHA-256 of each file that was read, by its name with the @. */
  readonly digests: Record<string, string> = {};
  readonly #read = new Map<string, string>();
  readonly #planned: Readonly<Record<string, string>>;

  /** `planned` are the digests of the files when the run was planned: a file that differs is refused. */
  constructor(planned: Readonly<Record<string, string>> = {}) {
    this.#planned = planned;
  }

  /**
   * Returns a text, or the contents of the file named by `@file`. Throws a usage error that begins with `where` if the file
   * cannot be read or has changed since the run was planned.
   */
  read(text: string, where: string): string {
    if (!text.startsWith('@')) return text;
    const known = this.#read.get(text);
    if (known !== undefined) return known;
    let contents: string;
    try {
      contents = readFileSync(text.slice(1), 'utf8');
    } catch {
      throw new UsageError(`${where} ${text}: the file cannot be read`, 'check the path after the @');
    }
    const digest = digestOf(contents);
    refuseChanged(this.#planned[text], digest, `${where} ${text}`);
    this.digests[text] = digest;
    this.#read.set(text, contents);
    return contents;
  }
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
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

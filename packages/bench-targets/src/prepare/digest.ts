import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Returns ten hexadecimal digits that identify the contents of the files, in any order, and the words given with
 * them.
 */
export function digestOf(files: string[], extra: string): string {
  const hash = createHash('sha256').update(extra);
  for (const file of files.toSorted()) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 10);
}

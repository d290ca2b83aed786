import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Ten hexadecimal digits that stand for what is in the files, in any order, and for the words beside them. */
export function digestOf(files: string[], extra: string): string {
  const hash = createHash('sha256').update(extra);
  for (const file of files.toSorted()) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 10);
}

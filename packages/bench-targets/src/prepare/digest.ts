import { createHash } from 'node:crypto';
import { readBytes, sizeOfFile } from 'bench-machine/files';

/**
 * Returns ten hexadecimal digits that identify the contents of the files, in any order, and the words given with
 * them. Of a file that is too large to be a source, such as a database, only the size counts.
 */
export function digestOf(files: string[], extra: string): string {
  const hash = createHash('sha256').update(extra);
  for (const file of files.toSorted()) hash.update(readBytes(file) ?? String(sizeOfFile(file)));
  return hash.digest('hex').slice(0, 10);
}

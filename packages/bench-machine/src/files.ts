/** What is at a path, and new folders. Nothing is at a path that no system can have: texts of others name such paths, too. */
import { join, relative, resolve } from 'node:path';
import { orUndefined, UsageError } from 'bench-model/errors';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  type Stats,
} from 'node:fs';

/** The most bytes that are read of a file which others wrote: more than any lock has. */
const MOST_BYTES = 64 * 1024 ** 2;

export function isFile(path: string): boolean {
  return lookAt(path)?.isFile() ?? false;
}

export function isFolder(path: string): boolean {
  return lookAt(path)?.isDirectory() ?? false;
}

/** Returns the size of a file in bytes; 0 for anything else. */
export function sizeOfFile(path: string): number {
  const found = lookAt(path);
  return found?.isFile() === true ? found.size : 0;
}

/** Returns the text of a regular file; see `readBytes`. */
export function readTextFile(path: string, mostBytes?: number): string | undefined {
  return readBytes(path, mostBytes)?.toString();
}

/** Returns the lines of a regular file in a folder; undefined as for `readTextFile`. */
export function readLines(folder: string, file: string): string[] | undefined {
  return readTextFile(join(folder, file))?.split('\n');
}

/** Returns the path of a file as a user would type it. */
export function showPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near || '.';
}

/**
 * Returns the content of a regular file of at most this many bytes; undefined for anything else, and for what cannot be read. Each
 * file of a project is read by it: a pipe or a device in place of a file may never end.
 */
export function readBytes(path: string, mostBytes = MOST_BYTES): Buffer | undefined {
  if (!isFile(path)) return undefined;
  let file: number | undefined;
  try {
    // What was a file a moment ago may be a pipe, whose opening would wait for the other end.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(file);
    return found.isFile() && found.size <= mostBytes ? readFirst(file, found.size) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readFirst(file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const count = readSync(file, bytes, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

/** Makes a folder, with those above it, unless something is there. Throws a usage error with the cure if it cannot. */
export function makeFolder(folder: string, { mode = 0o777, cure = 'name another folder' } = {}): void {
  try {
    // Nothing can be made below /proc, where a recursive call would try for ever.
    mkdirSync(folder, { recursive: !resolve(folder).startsWith('/proc/'), mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new UsageError(`${folder} cannot be created: ${(error as Error).message}`, cure);
  }
}

function lookAt(path: string): Stats | undefined {
  return orUndefined(() => statSync(path, { throwIfNoEntry: false }));
}

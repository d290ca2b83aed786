/** The logs of other programs: read from their end, kept within bounds, and without secrets. */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { sizeOfFile } from './files.ts';
import { readText } from './procfs.ts';
import { redact } from './redact.ts';

const NEWLINE = 0x0a;

/** Returns the last bytes of a file as text, from the begin of a line on if there is one; empty if it does not exist. */
export function readEnd(file: string, bytes: number): string {
  const size = sizeOfFile(file);
  if (size === 0) return '';
  const text = readPart(file, Math.max(0, size - bytes), Math.min(size, bytes)).toString();
  return size > bytes ? text.slice(text.indexOf('\n') + 1) : text;
}

/** Removes every secret from a text file. One without secrets stays as it is; a missing one is ignored. */
export function redactFile(file: string): void {
  const text = readText(file);
  if (text === undefined) return;
  const clean = redact(text);
  if (clean !== text) writeFileSync(file, clean);
}

/**
 * Shortens a file to whole lines of its first and last `bytes`, with a line between them that says how much was left out. A
 * file of up to twice that size stays as it is; a missing one is ignored.
 */
export function trimFile(file: string, bytes: number): void {
  const size = sizeOfFile(file);
  if (size <= 2 * bytes) return;
  const [head, tail] = [readPart(file, 0, bytes), readPart(file, size - bytes, bytes)];
  // Half a line could hold half a secret, which nobody would recognise.
  const first = head.subarray(0, head.lastIndexOf(NEWLINE) + 1);
  const last = tail.subarray(tail.includes(NEWLINE) ? tail.indexOf(NEWLINE) + 1 : bytes);
  const left = size - first.length - last.length;
  const short = `${file}.short`;
  writeFileSync(
    short,
    Buffer.concat([first, Buffer.from(`[bench] ${left} bytes were left out here\n`), last]),
  );
  renameSync(short, file);
}

/** The size of the blocks in which a system counts the space of a file. */
const BLOCK_BYTES = 512;

/**
 * Frees the space of a file that a program goes on writing to, once it takes more than `mostBytes`: all but that of the
 * first and last `bytes`. The program notices nothing, because it writes at its own position: what is in between reads as
 * zeros and takes no space. A missing file is ignored.
 */
export function hollowFile(file: string, bytes: number, mostBytes: number): void {
  const { blocks = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (blocks * BLOCK_BYTES <= mostBytes) return;
  const open = openSync(file, 'r+');
  try {
    const end = fstatSync(open).size;
    const from = end - bytes;
    const tail = Buffer.alloc(bytes);
    readSync(open, tail, 0, bytes, from);
    // What the program has written meanwhile, so that next to nothing is lost.
    const more = Buffer.alloc(Math.max(0, fstatSync(open).size - end));
    readSync(open, more, 0, more.length, end);
    ftruncateSync(open, bytes);
    writeSync(open, tail, 0, bytes, from);
    writeSync(open, more, 0, more.length, end);
  } finally {
    closeSync(open);
  }
}

/** Reads at most so many bytes from a place on. */
function readPart(file: string, from: number, bytes: number): Buffer {
  const part = Buffer.alloc(bytes);
  const open = openSync(file, 'r');
  try {
    return part.subarray(0, readSync(open, part, 0, bytes, from));
  } finally {
    closeSync(open);
  }
}

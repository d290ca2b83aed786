/** The logs of other programs: read from their end, kept within bounds, and without secrets. */
import { appendFileSync, closeSync, openSync, readSync, truncateSync, writeFileSync } from 'node:fs';
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

/** Stands for the bytes that a file has lost, in at most so many. */
const LEFT_OUT = /\[bench\] (\d+) bytes were left out here\n/;
const NOTE_BYTES = 64;

/**
 * Shortens a file of more than `mostBytes` to whole lines of its first and last `bytes`, with a line between them that says how
 * much was left out. It does so in place, because a program may go on appending to it. A missing file is ignored.
 */
export function trimFile(file: string, bytes: number, mostBytes = 2 * bytes): void {
  const size = sizeOfFile(file);
  if (size <= mostBytes) return;
  const head = readPart(file, 0, bytes + NOTE_BYTES);
  // With what the program has written meanwhile, so that next to nothing is lost.
  const tail = readPart(file, size - bytes, 2 * bytes);
  const before = LEFT_OUT.exec(head.toString('latin1'));
  // Half a line could hold half a secret, which nobody would recognise.
  const first = head.subarray(0, before?.index ?? head.lastIndexOf(NEWLINE, bytes - 1) + 1);
  const last = tail.subarray(tail.includes(NEWLINE) ? tail.indexOf(NEWLINE) + 1 : tail.length);
  const left = size - bytes + tail.length - first.length - last.length;
  const all = before === null ? left : left - before[0].length + Number(before[1]);
  truncateSync(file, first.length);
  appendFileSync(file, Buffer.concat([Buffer.from(`[bench] ${all} bytes were left out here\n`), last]));
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

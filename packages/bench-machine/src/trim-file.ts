/** Keeps the head and the tail of a log that a program filled. */
import { closeSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';

const NEWLINE = 0x0a;

/**
 * Shortens a file to whole lines of its first and last `bytes`, with a line between them that says how much was left out. A
 * file of up to twice that size stays as it is; a missing one is ignored.
 */
export function trimFile(file: string, bytes: number): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= 2 * bytes) return;
  const [head, tail] = readEnds(file, size, bytes);
  // Half a line could hold half a secret, which nobody would recognise.
  const first = head.subarray(0, head.lastIndexOf(NEWLINE) + 1);
  const start = tail.indexOf(NEWLINE) + 1;
  const last = start === 0 ? Buffer.alloc(0) : tail.subarray(start);
  const left = size - first.length - last.length;
  const short = `${file}.short`;
  const to = openSync(short, 'w');
  try {
    for (const part of [first, Buffer.from(`[bench] ${left} bytes were left out here\n`), last])
      writeSync(to, part);
  } finally {
    closeSync(to);
  }
  renameSync(short, file);
}

function readEnds(file: string, size: number, bytes: number): [head: Buffer, tail: Buffer] {
  const from = openSync(file, 'r');
  try {
    const [head, tail] = [Buffer.alloc(bytes), Buffer.alloc(bytes)];
    readSync(from, head, 0, bytes, 0);
    readSync(from, tail, 0, bytes, size - bytes);
    return [head, tail];
  } finally {
    closeSync(from);
  }
}

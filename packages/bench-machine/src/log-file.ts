/** Keeps the head and the tail of a log that a program fills. */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';

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

/** Removes secrets from files that other programs wrote. */
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { redact } from '../redact.ts';

/** A part of a file that is searched at once. It grows if a line is longer. */
const PART_BYTES = 2 ** 20;
const NEWLINE = 0x0a;

/**
 * Removes every secret from a text file of any size, line by line. A file without secrets stays as it is; a missing one is
 * ignored.
 */
export function redactFile(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return;
  const clean = `${file}.clean`;
  const [from, to] = [openSync(file, 'r'), openSync(clean, 'w')];
  let isChanged = false;
  try {
    const write = (part: Buffer): void => {
      const text = part.toString();
      const rest = redact(text);
      isChanged ||= rest !== text;
      if (part.length > 0) writeSync(to, rest);
    };
    let kept: Buffer = Buffer.alloc(0);
    const part = Buffer.alloc(PART_BYTES);
    for (let bytes = readSync(from, part); bytes > 0; bytes = readSync(from, part)) {
      const seen = Buffer.concat([kept, part.subarray(0, bytes)]);
      const end = seen.lastIndexOf(NEWLINE) + 1;
      write(seen.subarray(0, end));
      kept = Buffer.from(seen.subarray(end));
    }
    write(kept);
  } finally {
    closeSync(from);
    closeSync(to);
  }
  if (isChanged) renameSync(clean, file);
  else rmSync(clean);
}

/** Removes secrets from files that other programs wrote. */
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { redact } from './redact.ts';

/** A part of a file that is searched at once. It grows if a line is longer, up to twice its size. */
const PART_BYTES = 2 ** 20;
/** The end of a part of a longer line, which is searched again with what follows. No secret is longer. */
const OVERLAP_BYTES = 2 ** 16;
const NEWLINE = 0x0a;
const BLANK = 0x20;

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
    const clear = (part: Buffer): Buffer => {
      const text = part.toString();
      const rest = redact(text);
      isChanged ||= rest !== text;
      return rest === text ? part : Buffer.from(rest);
    };
    const write = (part: Buffer): void => {
      if (part.length > 0) writeSync(to, part);
    };
    let kept: Buffer = Buffer.alloc(0);
    const part = Buffer.alloc(PART_BYTES);
    for (let bytes = readSync(from, part); bytes > 0; bytes = readSync(from, part)) {
      const seen = Buffer.concat([kept, part.subarray(0, bytes)]);
      const end = seen.lastIndexOf(NEWLINE) + 1;
      write(clear(seen.subarray(0, end)));
      kept = Buffer.from(seen.subarray(end));
      if (kept.length <= PART_BYTES) continue;
      const blank = kept.lastIndexOf(BLANK);
      const whole = blank > kept.length - OVERLAP_BYTES ? blank : endOfText(kept);
      const cleared = clear(kept.subarray(0, whole));
      const cut = endOfText(cleared.subarray(0, -OVERLAP_BYTES));
      write(cleared.subarray(0, cut));
      kept = Buffer.concat([cleared.subarray(cut), kept.subarray(whole)]);
    }
    write(clear(kept));
  } finally {
    closeSync(from);
    closeSync(to);
  }
  if (isChanged) renameSync(clean, file);
  else rmSync(clean);
}

/** Returns the end of the last complete character of UTF-8. */
function endOfText(part: Buffer): number {
  let end = part.length;
  while (end > 0 && ((part[end - 1] ?? 0) & 0xc0) === 0x80) end--;
  const lead = part[end - 1] ?? 0;
  if (lead < 0xc0) return part.length;
  const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return part.length - end + 1 >= bytes ? part.length : end - 1;
}

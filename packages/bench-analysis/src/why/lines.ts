/** The lines of two versions of a file, matched with each other: between commits, their numbers shift. */
import type { Hunk } from 'bench-model/why';

type Stretch = Omit<Hunk, 'file'>;

/** The stretches in which two versions of a file differ. Blanks around a line do not count. */
export function diffLines(before: readonly string[], after: readonly string[]): Stretch[] {
  const [old, now] = [before, after].map((lines) => lines.map((line) => line.trim())) as [string[], string[]];
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - same && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const middle = [old, now].map((lines) => lines.slice(same, lines.length - tail)) as [string[], string[]];
  const common = [...commonOf(...middle), { left: middle[0].length, right: middle[1].length }];
  let [left, right] = [0, 0];
  return common.flatMap((next) => {
    const [removed, added] = [next.left - left, next.right - right];
    const hunk = { before: same + left + 1, removed, after: same + right + 1, added };
    [left, right] = [next.left + 1, next.right + 1];
    return removed + added > 0 ? [hunk] : [];
  });
}

/** Versions that differ in more than this are not matched line by line: it would take too much memory. */
const MOST_CELLS = 4e6;

/** The longest common subsequence of two lists, as pairs of indices, by the table of Wagner and Fischer (1974). */
function commonOf(old: readonly string[], now: readonly string[]): { left: number; right: number }[] {
  const width = now.length + 1;
  if (old.length * width > MOST_CELLS) return [];
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (left: number, right: number): number => longest[left * width + right] ?? 0;
  for (let left = old.length - 1; left >= 0; left--) {
    for (let right = now.length - 1; right >= 0; right--)
      longest[left * width + right] =
        old[left] === now[right]
          ? at(left + 1, right + 1) + 1
          : Math.max(at(left + 1, right), at(left, right + 1));
  }
  const pairs: { left: number; right: number }[] = [];
  for (let [left, right] = [0, 0]; left < old.length && right < now.length;) {
    if (old[left] === now[right]) pairs.push({ left: left++, right: right++ });
    else if (at(left + 1, right) >= at(left, right + 1)) left++;
    else right++;
  }
  return pairs;
}

/** Returns the line of the later version for one of the earlier; undefined if it has none. As many lines that replace others correspond. */
function matchLine(line: number, hunks: readonly Stretch[]): number | undefined {
  let shift = 0;
  for (const { before, removed, after, added } of hunks) {
    if (line < before) break;
    if (line < before + removed) return removed === added ? after + line - before : undefined;
    shift = after + added - before - removed;
  }
  return line + shift;
}

/** Reads the lines of a file in a folder; undefined if it cannot. */
export type Read = (root: string, file: string) => readonly string[] | undefined;

/** The files of projects, by the folder of each: versions of the same code. */
export class Versions {
  readonly #read: Read;
  readonly #hunks = new Map<string, Stretch[]>();

  constructor(read: Read) {
    this.#read = read;
  }

  /** Returns how a file differs between two folders; all of a file that only one of them has. */
  diff(file: string, before: string, after: string): Stretch[] {
    const key = JSON.stringify([file, before, after]);
    const hunks =
      this.#hunks.get(key) ?? diffLines(this.#read(before, file) ?? [], this.#read(after, file) ?? []);
    this.#hunks.set(key, hunks);
    return hunks;
  }

  /** Returns the line of another folder's version of a file that corresponds to one of this; undefined if none does. */
  match(
    { file, root, line }: { file: string; root: string; line: number },
    other: string,
  ): number | undefined {
    return root === other ? line : matchLine(line, this.diff(file, root, other));
  }
}

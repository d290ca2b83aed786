/** The lines of two versions of a file, matched with each other: between commits, their numbers shift. */
import { isSimilar } from 'bench-model/suggest';
import type { Hunk } from 'bench-model/why';

type Stretch = Omit<Hunk, 'file'>;

/** The stretches in which two versions of a file differ. */
function diffLines(old: readonly string[], now: readonly string[]): Stretch[] {
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - same && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const middle = [old, now].map((lines) => lines.slice(same, lines.length - tail)) as [string[], string[]];
  const common = [...commonOf(...middle, Object.is), { left: middle[0].length, right: middle[1].length }];
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
function commonOf(
  old: readonly string[],
  now: readonly string[],
  isSame: (one?: string, other?: string) => boolean,
): { left: number; right: number }[] {
  const width = now.length + 1;
  if (old.length * width > MOST_CELLS) return [];
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (left: number, right: number): number => longest[left * width + right] ?? 0;
  for (let left = old.length - 1; left >= 0; left--) {
    for (let right = now.length - 1; right >= 0; right--)
      longest[left * width + right] = isSame(old[left], now[right])
        ? at(left + 1, right + 1) + 1
        : Math.max(at(left + 1, right), at(left, right + 1));
  }
  const pairs: { left: number; right: number }[] = [];
  for (let [left, right] = [0, 0]; left < old.length && right < now.length;) {
    if (isSame(old[left], now[right])) pairs.push({ left: left++, right: right++ });
    else if (at(left + 1, right) >= at(left, right + 1)) left++;
    else right++;
  }
  return pairs;
}

/** The most pairs of lines that are compared letter by letter. */
const MOST_COMPARED = 1e4;

/** Finds lines of the later version that were probably written from earlier ones, in stretches of another length. */
function findSimilar(old: readonly string[], now: readonly string[], hunks: readonly Stretch[]) {
  const pairs = hunks.flatMap(({ before, removed, after, added }) => {
    if (removed === added || removed * added > MOST_COMPARED) return [];
    const [gone, fresh] = [old.slice(before - 1).slice(0, removed), now.slice(after - 1).slice(0, added)];
    return commonOf(gone, fresh, isSimilar).map(({ left, right }) => [before + left, after + right] as const);
  });
  return new Map(pairs);
}

/** How two versions of a file differ. */
interface Difference {
  hunks: Stretch[];
  similar: ReturnType<typeof findSimilar>;
}

/** Returns the line of the later version for one of the earlier; undefined if it has none. As many lines that replace others correspond. */
function matchLine(line: number, { hunks, similar }: Difference): number | undefined {
  let shift = 0;
  for (const { before, removed, after, added } of hunks) {
    if (line < before) break;
    if (line < before + removed) return removed === added ? after + line - before : similar.get(line);
    shift = after + added - before - removed;
  }
  return line + shift;
}

/** Reads the lines of a file in a folder; undefined if it cannot. */
export type Read = (root: string, file: string) => readonly string[] | undefined;

/** The files of projects, by the folder of each: versions of the same code. */
export class Versions {
  readonly #read: Read;
  readonly #known = new Map<string, Difference>();

  constructor(read: Read) {
    this.#read = read;
  }

  /** Returns how a file differs between two folders; all of a file that only one of them has. */
  diff(file: string, ...roots: [before: string, after: string]): Difference {
    const key = JSON.stringify([file, roots]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Blanks around a line do not count.
    const [old = [], now = []] = roots.map((root) => this.#read(root, file)?.map((line) => line.trim()));
    const hunks = diffLines(old, now);
    const found = { hunks, similar: findSimilar(old, now, hunks) };
    this.#known.set(key, found);
    return found;
  }

  /** Returns the line of another folder's version of a file that corresponds to one of this; undefined if none does. */
  match(
    { file, root, line }: { file: string; root: string; line: number },
    other: string,
  ): number | undefined {
    return root === other ? line : matchLine(line, this.diff(file, root, other));
  }
}

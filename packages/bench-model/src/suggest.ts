import { distance } from 'fastest-levenshtein';

/** Returns a question such as `did you mean nginx?` for a mistyped word, with at most three words; undefined if none is close. */
export function suggest(typed: string, words: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(typed.length / 4));
  const close = words
    .map((word) => ({ word, far: isSwapped(typed, word) ? 1 : distance(typed, word) }))
    .filter(({ word, far }) => far <= most || isPart(typed, word) || isPart(word, typed))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3);
  return close.length === 0 ? undefined : `did you mean ${close.map(({ word }) => word).join(', ')}?`;
}

/** Returns true if two letters beside each other are swapped, and nothing else differs. */
function isSwapped(typed: string, word: string): boolean {
  const at = Array.from(typed).findIndex((letter, place) => letter !== word[place]);
  const swapped = `${typed.slice(0, at)}${typed[at + 1] ?? ''}${typed[at] ?? ''}${typed.slice(at + 2)}`;
  return at >= 0 && swapped === word;
}

function isPart(one: string, whole: string): boolean {
  return one.length > 2 && whole.startsWith(one);
}

/** Returns true if less than half of a line differs from another: it was probably written from that one. */
export function isSimilar(one = '', other = ''): boolean {
  return 2 * distance(one, other) < Math.max(one.length, other.length);
}

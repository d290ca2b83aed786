import { distance } from 'fastest-levenshtein';

/** Returns a question such as `did you mean nginx?` for a mistyped word, with at most three words; undefined if none is close. */
export function suggest(typed: string, words: readonly string[]): string | undefined {
  const most = Math.max(2, typed.length / 3);
  const close = words
    .map((word) => ({ word, far: distance(typed, word) }))
    .filter(({ word, far }) => far <= most || isPart(typed, word) || isPart(word, typed))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3);
  return close.length === 0 ? undefined : `did you mean ${close.map(({ word }) => word).join(', ')}?`;
}

function isPart(one: string, whole: string): boolean {
  return one.length > 2 && whole.startsWith(one);
}

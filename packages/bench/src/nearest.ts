import { distance } from 'fastest-levenshtein';

/** The names nearest to a mistyped one, three at the most. */
export function nearest(typed: string, names: string[]): string[] {
  const sorted = names.toSorted((a, b) => distance(typed, a) - distance(typed, b)).slice(0, 3);
  // The first is always told; of the others only those that somebody may have meant.
  return sorted.filter(
    (name, index) => index === 0 || distance(typed, name) <= Math.max(2, typed.length / 2),
  );
}

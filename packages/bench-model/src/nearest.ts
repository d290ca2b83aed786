import { distance } from 'fastest-levenshtein';

/** Returns the names nearest to a mistyped one, at most three. */
export function nearest(typed: string, names: string[]): string[] {
  const sorted = names.toSorted((a, b) => distance(typed, a) - distance(typed, b)).slice(0, 3);
  // The first is always suggested; the others only if they are close enough.
  return sorted.filter(
    (name, index) => index === 0 || distance(typed, name) <= Math.max(2, typed.length / 2),
  );
}

/** Ids of requests, by which a crossed answer is recognised. */

let senders = 0;

/** Returns a number that no other sender in this process has. It is part of each id of this sender. */
export function nextSender(): number {
  return ++senders;
}

/**
 * Returns a generator of unique ids. They have the length of the placeholder and never match an id of another
 * sender.
 */
export function createIds(sender: number): () => string {
  const own = `bench-${sender.toString(16).padStart(6, '0')}-`;
  let count = 0;
  return () => own + (++count).toString(16).padStart(8, '0');
}

const ANY = /bench-[\da-f]{6}-[\da-f]{8}/g;

/** Returns all ids in a text, from any sender. */
export function idsIn(text: string): string[] {
  return text.match(ANY) ?? [];
}

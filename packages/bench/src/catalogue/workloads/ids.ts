/** The ids that requests have, so that an answer to another request is recognised. */

let senders = 0;

/** A number that nobody else who sends has in this harness: it is part of each id that they give. */
export function nextSender(): number {
  return ++senders;
}

/** Gives ids of the placeholder's length, no two the same, and none that another sender gives. */
export function createIds(sender: number): () => string {
  const own = `bench-${sender.toString(16).padStart(6, '0')}-`;
  let count = 0;
  return () => own + (++count).toString(16).padStart(8, '0');
}

const ANY = /bench-[\da-f]{6}-[\da-f]{8}/g;

/** All ids in a text, whoever gave them. */
export function idsIn(text: string): string[] {
  return text.match(ANY) ?? [];
}

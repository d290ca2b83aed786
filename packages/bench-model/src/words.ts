/** The words of stored files, read from the schemas as they are shipped: the definitions take long to load. */
import { readdirSync, readFileSync } from 'node:fs';

let words: ReadonlySet<string> | undefined;

/** Returns the words that fields of stored files are chosen from: `postgres`, `measured`, `closed`. */
export function wordsOfSchemas(): ReadonlySet<string> {
  const folder = new URL('../schema/', import.meta.url);
  words ??= new Set(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => listWords(JSON.parse(readFileSync(new URL(name, folder), 'utf8')))),
  );
  return words;
}

function listWords(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return [];
  return Object.entries(schema).flatMap(([name, value]: [string, unknown]) => {
    const isChosen = name === 'const' || (name === 'enum' && Array.isArray(value));
    return isChosen ? [value].flat().filter((one) => typeof one === 'string') : listWords(value);
  });
}

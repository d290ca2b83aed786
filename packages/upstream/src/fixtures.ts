import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Another seed would make other fixtures, and their figures would not be comparable. */
const SEED = 'gather 1';

const COLOURS = ['amber', 'black', 'coral', 'green', 'ivory', 'olive', 'pearl', 'white'];
const ANIMALS = ['badger', 'falcon', 'gibbon', 'jaguar', 'lizard', 'marten', 'rabbit', 'turtle'];

/** One object of a fixture. */
export interface Item {
  id: number;
  uuid: string;
  name: string;
  active: boolean;
  reading: number;
  position: { latitude: number; longitude: number };
  tags: string[];
  created_at: string;
}

/** The number of fixtures, and of objects in each. */
export interface Extent {
  fixtures: number;
  items: number;
}

/** Returns the texts of the fixtures, each a compact JSON array: the same bytes on every machine and in every run. */
export function makeFixtures({ fixtures, items }: Extent): string[] {
  return Array.from({ length: fixtures }, (_, fixture) =>
    JSON.stringify(Array.from({ length: items }, (__, item) => makeItem(fixture, item))),
  );
}

/** Returns the path of a fixture. */
export function pathOf(fixture: number): string {
  return `/fixtures/${fixture}.json`;
}

/** Writes the fixtures into a folder, each at its path. */
export function writeFixtures(folder: string, texts: readonly string[]): void {
  mkdirSync(join(folder, 'fixtures'), { recursive: true });
  for (const [fixture, text] of texts.entries()) writeFileSync(join(folder, pathOf(fixture)), text);
}

/** Derives an object from a digest of the seed and its position. It is the same however many fixtures there are. */
function makeItem(fixture: number, item: number): Item {
  const digest = createHash('sha256').update(`${SEED}/${fixture}/${item}`).digest();
  const hex = digest.toString('hex');
  const below = (word: number, limit: number): number => digest.readUInt32BE(4 * word) % limit;
  return {
    id: below(0, 1e9),
    uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    name: `${COLOURS[below(1, 8)]} ${ANIMALS[below(2, 8)]}`,
    active: below(3, 2) === 1,
    reading: below(4, 100_000) / 100,
    position: { latitude: below(5, 90_000) / 1000, longitude: below(6, 180_000) / 1000 },
    tags: [COLOURS[below(2, 8)] ?? '', ANIMALS[below(1, 8)] ?? ''],
    created_at: new Date(1.6e12 + below(7, 1.5e8) * 1000).toISOString(),
  };
}

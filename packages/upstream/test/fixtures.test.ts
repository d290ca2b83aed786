import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFixtures, pathOf, writeFixtures } from '../src/fixtures.ts';

const bytesOf = (texts: string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

describe('the fixtures', () => {
  const small = makeFixtures({ fixtures: 10, items: 20 });
  const large = makeFixtures({ fixtures: 10, items: 1000 });

  // A change of the fixtures changes figures, so it must be deliberate.
  it('are these very bytes, of the sizes that CONTRIBUTING states', () => {
    expect(createHash('sha256').update(small.join('')).digest('hex').slice(0, 16)).toBe('2b7820dfb53c691d');
    expect([bytesOf(small), bytesOf(large)]).toEqual([46_435, 2_322_024]);
  });

  it('are JSON arrays of objects that differ from one another', () => {
    const items = small.flatMap((text) => JSON.parse(text) as { uuid: string }[]);
    expect(new Set(items.map(({ uuid }) => uuid)).size).toBe(200);
    expect(JSON.stringify(JSON.parse(small[3] ?? ''))).toBe(small[3]);
  });

  it('begin with the same objects whatever their number', () => {
    expect(large[9]?.startsWith(small[9]?.slice(0, -1) ?? 'none')).toBe(true);
    expect(makeFixtures({ fixtures: 2, items: 20 })).toEqual(small.slice(0, 2));
  });

  it('are written where they are served from', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-fixtures-'));
    try {
      writeFixtures(folder, small);
      expect(readFileSync(join(folder, pathOf(9)), 'utf8')).toBe(small[9]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

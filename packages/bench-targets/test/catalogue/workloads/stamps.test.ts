import { describe, expect, it } from 'vitest';
import { createStamps, MARKS } from '../../../src/catalogue/workloads/stamps.ts';

describe('the stamps of requests', () => {
  it('have the length of their marks, and never repeat, whoever sends', () => {
    const seen = new Set<string>();
    for (let sender = 1; sender <= 20; sender++) {
      for (const { mark, next } of createStamps(sender)) {
        for (let turn = 0; turn < 50; turn++) {
          const value = next();
          expect(value).toHaveLength(mark.length);
          seen.add(value);
        }
      }
    }
    expect(seen.size).toBe(20 * 3 * 50);
  });

  it('are UUIDs of version 4, and numbers that begin at 1,000,000,001', () => {
    const [, uuid, seq] = createStamps(1);
    expect(uuid?.mark).toBe(MARKS.uuid);
    expect(uuid?.next()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect([seq?.next(), seq?.next()]).toEqual(['1000000001', '1000000002']);
    expect(createStamps(899)[2]?.next()).toBe('9980000001');
    expect(createStamps(2000)[2]?.next()).toHaveLength(10);
  });
});

import { describe, expect, it } from 'vitest';
import { bestFirst, newerRelease, newestFirst, RELEASES, USUAL_LINES } from '../../src/catalogue/releases.ts';

describe('the known releases', () => {
  it('have a day, and each line once, newest first', () => {
    expect(RELEASES.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const kind of ['python', 'node'] as const) {
      const lines = newestFirst(kind);
      const sorted = [...new Set(lines)].toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
      expect(lines).toEqual(sorted);
      expect(lines).toEqual(expect.arrayContaining([...USUAL_LINES[kind]]));
    }
  });

  it('are chosen from the usual line downwards, then upwards', () => {
    expect(bestFirst('python')).toEqual(['3.14', '3.13', '3.12', '3.11', '3.10', '3.15']);
  });

  it('name a newer one of the same line', () => {
    expect(newerRelease('python', '3.14.2')).toBe('3.14.10');
    expect(newerRelease('python', '3.14.10')).toBeUndefined();
    expect(newerRelease('python', '3.9.2')).toBeUndefined();
    expect(newerRelease('node', '24.9.0')).toBe('24.21.0');
    expect(newerRelease('node', '24.100.0')).toBeUndefined();
    expect(newerRelease('bun', '1.3.9')).toBe('1.4.5');
  });
});

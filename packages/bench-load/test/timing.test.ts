import { describe, expect, it } from 'vitest';
import { createTimingReader } from '../src/timing.ts';

describe('createTimingReader', () => {
  const read = createTimingReader('gather');

  it.each([
    ['gather;dur=12.345', 12.345],
    ['gather; dur=0.5', 0.5],
    ['gather;desc="all of them";dur=7', 7],
    ['db;dur=1, gather;dur="2.5"', 2.5],
    ['Gather;DUR=3', 3],
    ['gather', undefined],
    ['gather;desc="x", db;dur=9', undefined],
    ['regather;dur=4', undefined],
    ['gather2;dur=4', undefined],
  ])('reads %s as %s', (header, milliseconds) => {
    expect(read(['content-type', 'text/plain', 'Server-Timing', header])).toBe(milliseconds);
  });

  it('finds the metric in any of several headers, and returns undefined if there is none', () => {
    expect(read(['server-timing', 'db;dur=1', 'server-timing', 'gather;dur=2'])).toBe(2);
    expect(read(['x-server-timing', 'gather;dur=2'])).toBeUndefined();
    expect(read([])).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { nearest } from '../src/nearest.ts';

describe('nearest', () => {
  it('returns up to three names, nearest first', () => {
    expect(nearest('ab', ['xyz', 'abc', 'ab', 'abcd'])).toEqual(['ab', 'abc', 'abcd']);
    expect(nearest('a', ['b'])).toEqual(['b']);
  });
});

import { describe, expect, it } from 'vitest';
import { describeExit } from '../src/listen.ts';

describe('describeExit', () => {
  it.each([
    [3, 'no such module\n', 'it ended (3): no such module'],
    ['SIGKILL', '', 'it ended (SIGKILL)'],
  ])('gives status %s and stderr %j', (status, stderr, text) => {
    expect(describeExit(status, stderr)).toBe(text);
  });
});

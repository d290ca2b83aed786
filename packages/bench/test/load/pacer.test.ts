import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pacer } from '../../src/load/pacer.ts';

/** Returns how many of 1,000 connects have started after this many ms. */
function startedAfter(milliseconds: number, isHeld: () => boolean): number {
  const pacer = new Pacer(200, isHeld);
  let started = 0;
  for (let each = 0; each < 1000; each++) pacer.schedule(() => started++);
  vi.advanceTimersByTime(milliseconds);
  return started;
}

describe('the pace of connects', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is kept from the first connect', () => {
    expect(startedAfter(1000, () => false)).toBeGreaterThanOrEqual(199);
    expect(startedAfter(1000, () => false)).toBeLessThanOrEqual(202);
  });

  it('waits for a server that is behind, and then continues at the same pace', () => {
    expect(startedAfter(1000, () => true)).toBe(0);
    const held = performance.now() + 500;
    const started = startedAfter(1000, () => performance.now() < held);
    expect(started).toBeGreaterThan(90);
    // Delayed connects are not made up for, except for at most 50 ms.
    expect(started).toBeLessThanOrEqual(112);
  });
});

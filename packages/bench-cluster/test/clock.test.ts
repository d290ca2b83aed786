import { describe, expect, it } from 'vitest';
import { estimateOffset, joinOffsets } from '../src/clock.ts';

describe('estimateOffset', () => {
  it('takes the shortest round trip, and half of it as the error', () => {
    const trips = [
      { sentMs: 0, readMs: 1090, returnedMs: 100 },
      { sentMs: 200, readMs: 1203, returnedMs: 204 },
    ];
    expect(estimateOffset(trips)).toEqual({ offsetMs: 1001, errorMs: 2, roundTripMs: 4 });
  });

  it('has no offset without a round trip', () => {
    expect(() => estimateOffset([])).toThrow('no round trip');
  });
});

describe('joinOffsets', () => {
  it('adds what changed in between to the error', () => {
    const before = { offsetMs: 10, errorMs: 1, roundTripMs: 2 };
    const after = { offsetMs: 7, errorMs: 2, roundTripMs: 4 };
    expect(joinOffsets(before, after)).toEqual({ offsetMs: 10, errorMs: 5, roundTripMs: 2 });
  });
});

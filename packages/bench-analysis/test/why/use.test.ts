import { describe, expect, it } from 'vitest';
import type { ProfiledSide, RequestUse } from 'bench-model/why';
import { compareUse, findCauses } from '../../src/why/use.ts';

/** What a request took from planted/sending, around which the profiles of a side lie. */
const STEADY = {
  userUs: 3.22,
  systemUs: 7.58,
  faults: 0.004,
  waits: 0.02,
  connections: 0,
  calls: { all: 2.16, reads: 1, writes: 1, polls: 0.1, locks: 0, yields: 0 },
} satisfies RequestUse;
const PIECES: Partial<RequestUse> = {
  userUs: 284,
  systemUs: 2355,
  waits: 0.75,
  calls: { all: 609, reads: 1.04, writes: 607, polls: 0.24, locks: 0, yields: 0 },
};
const CLOSES: Partial<RequestUse> = {
  userUs: 20.5,
  systemUs: 33.1,
  waits: 0.64,
  connections: 1,
  calls: { all: 10, reads: 2, writes: 1, polls: 2.01, locks: 0, yields: 0 },
};

function sideOf(target: string, use: Partial<RequestUse>): ProfiledSide {
  const profiles = [0.98, 1, 1.02, 0.99, 1.01, 1].map((pace) => {
    const around = (figures: RequestUse): RequestUse =>
      JSON.parse(JSON.stringify(figures), (_, one: unknown) =>
        typeof one === 'number' ? one * pace : one,
      ) as RequestUse;
    const perRequest = around({ ...STEADY, ...use });
    return { cpuUs: 38, profiledUs: 40, nodes: [0], samples: [1000], perRequest };
  });
  return { target, profiler: 'none', profiles };
}

function causesOf(use: Partial<RequestUse>, before: Partial<RequestUse> = {}): ReturnType<typeof findCauses> {
  const [baseline, candidate] = [sideOf('steady', before), sideOf('new', use)];
  const pair = { baseline: 'steady', candidate: 'new' };
  return findCauses(pair, compareUse(baseline, candidate));
}

describe('what a request takes', () => {
  it('has an interval, and is clear only if it differs by much', () => {
    const uses = compareUse(sideOf('steady', {}), sideOf('new', { waits: 1.02, faults: 0.012 }));
    const clear = uses.filter(({ isClear }) => isClear).map(({ name }) => name);
    expect(clear).toEqual(['waits']);
    const waits = uses.find(({ name }) => name === 'waits');
    expect(waits?.difference).toBeCloseTo(1, 2);
    expect(waits?.margin).toBeGreaterThan(0);
    expect(waits?.margin).toBeLessThan(0.1);
  });

  it('has the garbage collections, where the runtime tells of them', () => {
    const [few, many] = [4, 40].map((collections) => ({ garbage: { collections, us: 2 * collections } }));
    const uses = compareUse(sideOf('steady', few!), sideOf('new', many!));
    expect(uses.find(({ name }) => name === 'collections')).toMatchObject({
      before: expect.closeTo(4, 1),
      after: expect.closeTo(40, 1),
      isClear: true,
    });
    expect(uses.find(({ name }) => name === 'collectingUs')?.difference).toBeCloseTo(72, 0);
  });

  it('leaves out what a profile lacks, and what is 0', () => {
    const without = sideOf('new', {});
    for (const { perRequest } of without.profiles) delete perRequest?.calls;
    const names = compareUse(sideOf('steady', {}), without).map(({ name }) => name);
    expect(names).toEqual(['userUs', 'systemUs', 'waits']);
  });
});

describe('the faults of one side', () => {
  it('are a connection for each answer, and an answer in many writes', () => {
    expect(causesOf(CLOSES)).toEqual([
      { of: 'connections', target: 'new', per: 1, other: 'steady', otherPer: 0 },
    ]);
    expect(causesOf(PIECES)).toMatchObject([{ of: 'writes', target: 'new', other: 'steady', otherPer: 1 }]);
    expect(causesOf({}, PIECES)).toMatchObject([{ of: 'writes', target: 'steady', other: 'new' }]);
  });

  it('are not named if both have them, or if there are few writes', () => {
    expect(causesOf(CLOSES, CLOSES)).toEqual([]);
    expect(causesOf({ calls: { all: 6, reads: 1, writes: 4, polls: 0.3, locks: 0, yields: 0 } })).toEqual([]);
  });
});

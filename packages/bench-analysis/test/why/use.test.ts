import { describe, expect, it } from 'vitest';
import type { ProfiledSide, RequestUse } from 'bench-model/why';
import { compareUse, findCauses } from '../../src/why/use.ts';

/** What a request takes on one side, around which its profiles lie. */
const STEADY = {
  userUs: 20,
  systemUs: 18,
  faults: 0.01,
  diskFaults: 0,
  waits: 0.3,
  preemptions: 0.001,
  connections: 0,
  calls: { all: 2.4, reads: 1, writes: 1, polls: 0.3 },
} satisfies RequestUse;

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
    const uses = compareUse(sideOf('steady', {}), sideOf('new', { waits: 1.3, faults: 0.012 }));
    const clear = uses.filter(({ isClear }) => isClear).map(({ name }) => name);
    expect(clear).toEqual(['waits']);
    const waits = uses.find(({ name }) => name === 'waits');
    expect(waits?.difference).toBeCloseTo(1, 2);
    expect(waits?.margin).toBeGreaterThan(0);
    expect(waits?.margin).toBeLessThan(0.1);
  });

  it('leaves out what a profile lacks, and what is 0', () => {
    const without = sideOf('new', {});
    for (const { perRequest } of without.profiles) delete perRequest?.calls;
    const names = compareUse(sideOf('steady', {}), without).map(({ name }) => name);
    expect(names).toEqual(['userUs', 'systemUs', 'waits', 'faults']);
  });
});

describe('the faults of one side', () => {
  it('are a connection for each answer, and an answer in many writes', () => {
    expect(causesOf({ connections: 1 })).toEqual([
      { of: 'connections', target: 'new', per: 1, other: 'steady', otherPer: 0 },
    ]);
    const calls = { all: 1003, reads: 1, writes: 1000, polls: 0.3 };
    expect(causesOf({ calls })).toMatchObject([
      { of: 'writes', target: 'new', other: 'steady', otherPer: 1 },
    ]);
    expect(causesOf({}, { calls })).toMatchObject([{ of: 'writes', target: 'steady', other: 'new' }]);
  });

  it('are not named if both have them, or if there are few writes', () => {
    expect(causesOf({ connections: 1 }, { connections: 1 })).toEqual([]);
    expect(causesOf({ calls: { all: 6, reads: 1, writes: 4, polls: 0.3 } })).toEqual([]);
  });
});

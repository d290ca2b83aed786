import { describe, expect, it } from 'vitest';
import type { ProfiledSide, RequestUse } from 'bench-model/why';
import { changedPlaces, changedStatements, changedTimes, compareUse } from '../../src/why/use.ts';

/** What a request causes, around which the profiles of a side lie. */
const STEADY = {
  connections: 0,
  threads: 1,
  calls: { all: 2.16, writes: 1 },
  statements: [
    { text: 'select * from author', count: 1, ms: 0.4 },
    { text: 'select * from book where author_id = ?', count: 1, ms: 0.2 },
  ],
  places: [{ file: 'main.py', line: 12, name: 'read', code: 'await db.fetch(BOOKS)', ms: 0.6 }],
} satisfies RequestUse;

function sideOf(target: string, use: Partial<RequestUse>): ProfiledSide {
  const profiles = [0.98, 1, 1.02, 0.99, 1.01, 1].map((pace) => {
    const around = (figures: RequestUse): RequestUse =>
      JSON.parse(JSON.stringify(figures), (name, one: unknown) =>
        typeof one === 'number' && name !== 'line' ? one * pace : one,
      ) as RequestUse;
    const perRequest = around({ ...STEADY, ...use });
    return { cpuUs: 38, profiledUs: 40, nodes: [0], samples: [1000], perRequest };
  });
  return { target, profiler: 'none', profiles };
}

const BEFORE = sideOf('steady', {});

describe('what requests cause', () => {
  it('has an interval, and is clear only if it differs by much', () => {
    const uses = compareUse(BEFORE, sideOf('new', { calls: { all: 2.3, writes: 2 }, connections: 0.012 }));
    expect(uses.filter(({ isClear }) => isClear).map(({ name }) => name)).toEqual(['writes']);
    const writes = uses.find(({ name }) => name === 'writes');
    expect(writes?.difference).toBeCloseTo(1, 2);
    expect(writes?.margin).toBeGreaterThan(0);
    expect(writes?.margin).toBeLessThan(0.1);
  });

  it('has the garbage collections, where the runtime tells of them', () => {
    const [few, many] = [4, 40].map((collections) => ({ garbage: { collections, us: 2 * collections } }));
    const uses = compareUse(sideOf('steady', few!), sideOf('new', many!));
    const close = { before: expect.closeTo(4, 1), after: expect.closeTo(40, 1), isClear: true };
    expect(uses.find(({ name }) => name === 'collections')).toMatchObject(close);
    expect(uses.find(({ name }) => name === 'collectingUs')?.difference).toBeCloseTo(72, 0);
  });

  it('leaves out what a profile lacks, and what is 0', () => {
    const without = sideOf('new', {});
    for (const { perRequest } of without.profiles) delete perRequest?.calls;
    expect(compareUse(BEFORE, without).map(({ name }) => name)).toEqual(['statements', 'threads']);
  });
});

describe('the statements and the lines that changed', () => {
  const [authors, books] = STEADY.statements;
  const [line] = STEADY.places;

  it('are those that are sent more often, or take longer', () => {
    const lazy = sideOf('new', { statements: [authors!, { ...books!, count: 20, ms: 4 }] });
    expect(changedStatements([BEFORE, lazy])).toMatchObject([
      { part: { text: books!.text }, before: expect.closeTo(1, 1), after: expect.closeTo(20, 1) },
    ]);
    expect(changedTimes([BEFORE, lazy], 10)).toMatchObject([{ difference: expect.closeTo(3.8, 1) }]);
  });

  it('are 0 on a side that has none, and alike if only the number of a line is another', () => {
    const moved = { ...line!, line: 14 };
    const queue = { ...line!, in: 'Queue.get', ms: 4.1 };
    const changed = changedPlaces([BEFORE, sideOf('new', { places: [moved, queue] })], 10);
    expect(changed).toMatchObject([{ part: { in: 'Queue.get' }, before: 0, after: expect.closeTo(4.1, 1) }]);
  });

  it('are one place where lines replace others', () => {
    const slept = { ...line!, line: 13, code: 'await asyncio.sleep(0.005)', in: 'sleep', ms: 5 };
    const told = (removed: number, added: number) =>
      changedPlaces([BEFORE, sideOf('new', { places: [slept] })], 10, [
        { file: 'main.py', before: 11, removed, after: 12, added },
      ]).map(({ part, before }) => [part.line, Math.round(10 * before) / 10]);
    for (const added of [2, 5]) expect(told(2, added)).toEqual([[13, 0.6]]);
    for (const removed of [0, 1]) expect(told(removed, removed + 1)[0]).toEqual([13, 0]);
  });

  it('are none that may follow from a difference in CPU', () => {
    const slow = sideOf('new', { places: [{ ...line!, ms: 4 }] });
    expect(changedPlaces([BEFORE, slow], 10)).toHaveLength(1);
    for (const profile of slow.profiles) profile.cpuUs = 438;
    expect(changedPlaces([BEFORE, slow], 10)).toEqual([]);
  });

  it('are none between twins, and where a side does not tell them', () => {
    expect(changedStatements([BEFORE, sideOf('twin', {})])).toEqual([]);
    const silent = sideOf('new', {});
    for (const { perRequest } of silent.profiles) delete perRequest?.statements;
    expect(changedStatements([BEFORE, silent])).toEqual([]);
  });
});

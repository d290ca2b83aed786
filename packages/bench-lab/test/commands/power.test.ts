import { describe, expect, it } from 'vitest';
import { nextTest } from '../../src/commands/power.ts';
import { EFFECTS } from '../../src/measure/twins.ts';
import type { Effect } from '../../src/results/pool.ts';

const effectsOf = (done: Effect[], effects: Effect[], count: number): Effect[] => {
  const pool = [...done];
  for (let index = 0; index < count; index++) pool.push(nextTest(pool, effects));
  return pool.slice(done.length).map(({ effect, deferred }) => ({ effect, ...(deferred && { deferred }) }));
};

describe('the next test of a pool', () => {
  it('takes the effects in turn', () => {
    expect(effectsOf([], [...EFFECTS], 5)).toEqual([...EFFECTS, EFFECTS[0]]);
  });

  it('makes up for effects with fewer tests, and plants only those that were asked for', () => {
    const done = [{ effect: 0.03 }, { effect: 0.03 }, { effect: 0.06 }];
    const effects = [{ effect: 0.03 }, { effect: 0 }];
    expect(effectsOf(done, effects, 3).map(({ effect }) => effect)).toEqual([0, 0, 0.03]);
  });

  it('compares copies of one program in every other A/A test', () => {
    const after = [[], [0], [0, 0], [0.03]];
    const copied = after.map(
      (effects) =>
        nextTest(
          effects.map((effect) => ({ effect })),
          [{ effect: 0 }],
        ).copied,
    );
    expect(copied).toEqual([false, true, false, false]);
    expect(nextTest([{ effect: 0 }], [{ effect: 0.03 }])).toEqual({ effect: 0.03, copied: false });
  });
});

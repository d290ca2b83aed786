import { describe, expect, it } from 'vitest';
import { nextTest } from '../../src/commands/power.ts';

const effectsOf = (done: { effect: number }[], effects: number[], count: number): number[] => {
  const pool = [...done];
  for (let index = 0; index < count; index++) pool.push(nextTest(pool, effects));
  return pool.slice(done.length).map(({ effect }) => effect);
};

describe('the next test of a pool', () => {
  it('takes the effects in turn', () => {
    expect(effectsOf([], [0.03, 0, 0.015], 4)).toEqual([0.03, 0, 0.015, 0.03]);
  });

  it('makes up for effects with fewer tests, and plants only those that were asked for', () => {
    const done = [{ effect: 0.03 }, { effect: 0.03 }, { effect: 0.06 }];
    expect(effectsOf(done, [0.03, 0], 3)).toEqual([0, 0, 0.03]);
  });

  it('compares copies of one program in every other A/A test', () => {
    const after = [[], [0], [0, 0], [0.03]];
    const copied = after.map(
      (effects) =>
        nextTest(
          effects.map((effect) => ({ effect })),
          [0],
        ).copied,
    );
    expect(copied).toEqual([false, true, false, false]);
    expect(nextTest([{ effect: 0 }], [0.03])).toEqual({ effect: 0.03, copied: false });
  });
});

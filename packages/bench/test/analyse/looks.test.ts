import { describe, expect, it } from 'vitest';
import { SCHEDULES, scheduleNamed } from '../../src/catalogue/looks.ts';
import { errorOf, fixedSchedule, lastLook } from '../../src/analyse/looks.ts';
import { trimFor } from '../../src/analyse/signed-rank.ts';
import { BenchError } from '../../src/errors.ts';
import { type Boundary, boundJointError, jointError } from './joint.ts';

/** The share of sittings of `rounds` symmetric differences that cross a boundary, over all orders and signs. */
function enumerateJointError(looks: readonly Boundary[]): number {
  const rounds = looks.at(-1)!.rounds;
  const orders = permute(Array.from({ length: rounds }, (_, i) => i + 1));
  let crossed = 0;
  for (const sizes of orders) {
    for (let signs = 0; signs < 2 ** rounds; signs++) {
      const differences = sizes.map((size, i) => (signs & (1 << i) ? size : -size));
      if (looks.some(({ rounds: n, k }) => k !== undefined && smallerSum(differences.slice(0, n)) <= k))
        crossed++;
    }
  }
  return crossed / (orders.length * 2 ** rounds);
}

function smallerSum(differences: readonly number[]): number {
  const sizes = differences.map(Math.abs).toSorted((a, b) => a - b);
  let positive = 0;
  let negative = 0;
  for (const difference of differences) {
    const rank = sizes.indexOf(Math.abs(difference)) + 1;
    if (difference > 0) positive += rank;
    else negative += rank;
  }
  return Math.min(positive, negative);
}

function permute(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => permute(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

function withK(name: string): { rounds: number; k: number }[] {
  return scheduleNamed(name).flatMap(({ rounds, k }) => (k === undefined ? [] : [{ rounds, k }]));
}

describe('the joint error', () => {
  it('is computed as enumeration gives it', () => {
    const looks = [
      { rounds: 3, k: 0 },
      { rounds: 5, k: 1 },
      { rounds: 6, k: 3 },
    ];
    expect(jointError(looks)).toBeCloseTo(enumerateJointError(looks), 12);
    const { low, high } = boundJointError(looks);
    expect(low).toBeLessThanOrEqual(jointError(looks));
    expect(high).toBeGreaterThanOrEqual(jointError(looks));
  });

  it.each([
    ['12/18/24', 0.0473655],
    ['10/15/20', 0.048262],
    ['6/12/18', 0.0481868],
  ])('of %s is below a twentieth, exactly %d', (name, error) => {
    expect(jointError(withK(name))).toBeCloseTo(error, 7);
    expect(error).toBeLessThanOrEqual(0.05);
  });

  // Exactly it is 0.0500444, which takes a minute to compute; the bounds rest on exact pairs of looks.
  it('of 18/27/36 is a twentieth', () => {
    const { low, high } = boundJointError(withK('18/27/36'));
    expect(low).toBeGreaterThan(0.048);
    expect(high).toBeLessThan(0.0505);
  });

  it.each(Object.keys(SCHEDULES))(
    'of %s is about what it may be: a tenth more k at the end is too much',
    (name) => {
      const looks = withK(name);
      const last = looks.at(-1)!;
      const { low } = boundJointError(looks.with(looks.length - 1, { ...last, k: Math.ceil(1.1 * last.k) }));
      expect(low).toBeGreaterThan(0.05);
    },
  );

  it.each(['12/18/24', '10/15/20', '6/12/18'])(
    'of %s, shared by several comparisons, is shared fully',
    (name) => {
      for (const divisor of [3, 10]) {
        const shared = withK(name).flatMap((look) => {
          const k = trimFor(look.rounds, errorOf(look, scheduleNamed(name)) / divisor);
          return k === undefined ? [] : [{ rounds: look.rounds, k }];
        });
        expect(jointError(shared) * divisor).toBeLessThanOrEqual(0.05);
        expect(jointError(shared) * divisor).toBeGreaterThan(0.04);
      }
    },
  );
});

describe('schedules', () => {
  it('hold the constants of their names', () => {
    for (const [name, schedule] of Object.entries(SCHEDULES)) {
      expect(schedule.map(({ rounds }) => rounds).join('/')).toBe(name);
    }
    expect(withK('12/18/24').map(({ k }) => k)).toEqual([4, 32, 78]);
    expect(withK('6/12/18').map(({ k }) => k)).toEqual([8, 39]);
    expect(withK('10/15/20').map(({ k }) => k)).toEqual([1, 19, 50]);
    expect(withK('18/27/36').map(({ k }) => k)).toEqual([22, 92, 204]);
  });

  it('an unknown name is named, with those that there are', () => {
    expect(() => scheduleNamed('1/2/3')).toThrow(BenchError);
    expect(() => scheduleNamed('toString')).toThrow(/toString/);
  });

  it('looks come in order', () => {
    const schedule = scheduleNamed('12/18/24');
    const last = [0, 11, 12, 17, 18, 24, 30].map((rounds) => lastLook(schedule, rounds)?.rounds);
    expect(last).toEqual([undefined, undefined, 12, 12, 18, 24, 24]);
  });

  it('a fixed number of rounds has one look with all of the budget, from 6 rounds on', () => {
    expect(fixedSchedule(5)).toEqual([{ rounds: 5 }]);
    expect(fixedSchedule(6)).toEqual([{ rounds: 6, k: 0 }]);
    expect(fixedSchedule(20)).toEqual([{ rounds: 20, k: 52 }]);
    expect(errorOf({ rounds: 20, k: 52 }, fixedSchedule(20))).toBe(0.05);
    expect(errorOf({ rounds: 5 }, fixedSchedule(5))).toBe(0);
  });

  it('a look spends what its k says, none without', () => {
    const schedule = scheduleNamed('6/12/18');
    expect(schedule.map((look) => errorOf(look, schedule))).toEqual([0, 50 / 4096, 0.0431671142578125]);
  });
});

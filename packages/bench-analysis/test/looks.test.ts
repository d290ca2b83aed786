import { describe, expect, it } from 'vitest';
import { mostRounds, type Schedule, SCHEDULES, scheduleNamed } from 'bench-targets/catalogue/looks';
import {
  fewestToStop,
  firstDecisive,
  fixedSchedule,
  isEarly,
  lastLook,
  levelOf,
  lookAt,
  withStops,
} from '../src/looks.ts';
import { errorOfTrim, trimFor } from 'bench-statistics/signed-rank';
import { createRandom } from 'bench-statistics/random';
import { spentBy } from 'bench-statistics/spending';
import { BenchError } from 'bench-model/errors';
import { type Boundary, boundJointError, jointError, missesZero, smallerSums } from './joint.ts';

/** The share of tests of `rounds` symmetric differences that cross a boundary, over all orders and signs. */
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
  let positive = 0;
  const rising = differences.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  for (const [index, difference] of rising.entries()) if (difference > 0) positive += index + 1;
  return Math.min(positive, (rising.length * (rising.length + 1)) / 2 - positive);
}

function permute(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => permute(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

function withK(name: string): { rounds: number; k: number }[] {
  return scheduleNamed(name).flatMap(({ rounds, k }) => (k === undefined ? [] : [{ rounds, k }]));
}

/** The exact joint error takes minutes to compute for late looks. */
const LONG = '12/18/27/40/60';
const SHORT = Object.keys(SCHEDULES).filter((name) => name !== LONG);

describe('the joint error', () => {
  it('equals the result of enumeration', () => {
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

  it('of 12/18/24 is below 5 percent: exactly 0.0473655', () => {
    expect(jointError(withK('12/18/24'))).toBeCloseTo(0.0473655, 7);
  });

  it.each(SHORT)(
    'of %s uses nearly all of 5 percent: a last k that is 10 percent larger exceeds it',
    (name) => {
      const looks = withK(name);
      const last = looks.at(-1)!;
      const { low } = boundJointError(looks.with(looks.length - 1, { ...last, k: Math.ceil(1.1 * last.k) }));
      expect(low).toBeGreaterThan(0.05);
    },
  );

  it.each(SHORT)('of %s is at most 5 percent for any number of rows', (name) => {
    const schedule = scheduleNamed(name);
    for (const rows of [1, 2, 7, 30, 120]) {
      const looks = schedule.flatMap((look) => {
        const k = trimFor(look.rounds, levelOf(look, schedule, rows));
        return k === undefined ? [] : [{ rounds: look.rounds, k }];
      });
      const { low, high } = boundJointError(looks);
      expect(rows * high).toBeLessThanOrEqual(0.05);
      expect(rows * low).toBeGreaterThan(0.03);
    }
  });

  it.each([7, 10, 20, 30])(
    `of ${LONG} is at most 5 %% for %i rows, of which the first look can decide each`,
    (rows) => {
      const schedule = scheduleNamed(LONG);
      expect(firstDecisive(schedule, rows)?.rounds).toBe(12);
      const looks = schedule.map((look) => ({ rounds: look.rounds, level: levelOf(look, schedule, rows) }));
      expect(rows * spentBy(looks)).toBeLessThanOrEqual(0.05);
      expect(rows * spentBy(looks)).toBeGreaterThan(0.04);
    },
  );

  it(`of ${LONG} is below 5 %, and not far below`, () => {
    const random = createRandom(1);
    const looks = withK(LONG);
    const tests = 20_000;
    let crossed = 0;
    for (let test = 0; test < tests; test++) {
      const sums = smallerSums(Array.from({ length: 60 }, () => random.normal()));
      if (missesZero(sums, looks)) crossed++;
    }
    // Twice the standard deviation of the simulated share.
    expect(crossed / tests).toBeLessThan(0.05);
    expect(crossed / tests).toBeGreaterThan(0.038);
  });

  it('would exceed 5 % if the rows shared every look equally', () => {
    const looks = withK(LONG).map(({ rounds, k }) => ({ rounds, level: errorOfTrim(rounds, k) / 14 }));
    expect(14 * spentBy(looks)).toBeGreaterThan(0.0515);
  });
});

/** The looks of a run that was stopped after these rounds, and their k in a table of `rows` comparisons. */
function boundariesOf(planned: Schedule, stops: readonly number[], rows = 1): Boundary[] {
  const schedule = withStops(planned, stops);
  return schedule
    .filter((look) => !isEarly(look))
    .map((look) => ({
      rounds: look.rounds,
      k: trimFor(look.rounds, levelOf(look, schedule, rows)),
    }));
}

const PLANNED: [string, Schedule][] = [
  ...Object.entries(SCHEDULES),
  ['12 fixed rounds', fixedSchedule(12)],
  ['30 fixed rounds', fixedSchedule(30)],
];

describe('the joint error of a run that is stopped', () => {
  it.each(PLANNED)(
    '$0 is at most 5 percent for any rounds and rows',
    (name, planned) => {
      const most = mostRounds(planned);
      for (const rows of [1, 14, 120]) {
        // Some stops: the level moves slowly between two looks. The steps meet odd and even rounds.
        for (let stop = 6; stop < most; stop += 9) {
          const able = boundariesOf(planned, [stop], rows).flatMap(({ rounds, k }) =>
            rounds > stop || k === undefined ? [] : [{ rounds, k }],
          );
          if (able.length === 0) continue;
          // The bounds of late looks take minutes to compute: those are simulated below.
          if (name === LONG && stop > 27) continue;
          const { low, high } = boundJointError(able);
          expect(rows * high, `${rows} rows, ${stop} rounds`).toBeLessThanOrEqual(0.05);
          const least = stop >= 12 && rows <= 14 ? 0.024 : 0;
          expect(rows * low, `${rows} rows, ${stop} rounds`).toBeGreaterThan(least);
        }
      }
      // Exact, so it takes its time on a busy machine.
    },
    300_000,
  );

  it.each(PLANNED)('$0 is about 5 percent if the run is continued to its end', (_, planned) => {
    const random = createRandom(5);
    const most = mostRounds(planned);
    const stopped = [[6], [11], [13], [17, 20], [23], [38], [52]]
      .filter((stops) => stops.every((rounds) => rounds < most))
      .map((stops) => ({ stops, looks: boundariesOf(planned, stops), crossed: 0 }));
    const tests = 8000;
    for (let test = 0; test < tests; test++) {
      const sums = smallerSums(Array.from({ length: most }, () => random.normal()));
      for (const one of stopped) if (missesZero(sums, one.looks)) one.crossed++;
    }
    for (const { stops, crossed } of stopped) {
      // 5 %, and twice the standard deviation of the simulated share.
      expect(crossed / tests, `stopped after ${stops.join(' and ')}`).toBeLessThan(0.055);
      expect(crossed / tests, `stopped after ${stops.join(' and ')}`).toBeGreaterThan(0.038);
    }
  });

  it('is exact for a stop after one look and after two', () => {
    for (const stop of [13, 17])
      expect(jointError(boundariesOf(SCHEDULES['12/18/24'], [stop]).slice(0, 2))).toBeLessThan(0.045);
    expect(jointError(boundariesOf(SCHEDULES['12/18/24'], [20]).slice(0, 3))).toBeLessThan(0.05);
  });
});

describe('a stop', () => {
  const SHORT_PLAN = scheduleNamed('12/18/24');

  it('is a look at any rounds but the planned ones, with most of what is left', () => {
    expect(lookAt(SHORT_PLAN, 0)).toBeUndefined();
    expect(lookAt(SHORT_PLAN, 12)).toEqual({ rounds: 12, k: 4 });
    expect(lookAt(SHORT_PLAN, 17)).toEqual({ rounds: 17, isStop: true });
    expect(lookAt(SHORT_PLAN, 30)).toEqual({ rounds: 24, k: 78 });
    expect(boundariesOf(SHORT_PLAN, [11])).toEqual([
      { rounds: 11, k: 9 },
      { rounds: 12, k: 8 },
      { rounds: 18, k: 29 },
      { rounds: 24, k: 68 },
    ]);
    expect(boundariesOf(fixedSchedule(12), [8])).toEqual([
      { rounds: 8, k: 3 },
      { rounds: 12, k: 9 },
    ]);
  });

  it('at a planned look takes its place', () => {
    const late = SHORT_PLAN.filter((look) => !isEarly(look));
    expect(withStops(late, [12])).toEqual([{ rounds: 12, k: 4, isStop: true }, ...late.slice(1)]);
    expect(boundariesOf(SHORT_PLAN, [12])[0]?.k).toBe(12);
  });

  it('at an early look takes its place only if rank sums can decide there', () => {
    expect(withStops(SHORT_PLAN, [4])).toEqual(SHORT_PLAN);
    expect(withStops(SHORT_PLAN, [6])[2]).toEqual({ rounds: 6, isStop: true });
    expect(boundariesOf(SHORT_PLAN, [6])[0]).toEqual({ rounds: 6, k: 0 });
  });

  it.each([
    [1, 6],
    [2, 7],
    [14, 10],
  ])('can decide %i rows after %i rounds', (rows, fewest) => {
    expect(fewestToStop(SHORT_PLAN, rows)).toBe(fewest);
  });
});

describe('schedules', () => {
  it('have the rounds of their names and the expected k', () => {
    for (const [name, schedule] of Object.entries(SCHEDULES)) {
      expect(
        schedule
          .filter((look) => !isEarly(look))
          .map(({ rounds }) => rounds)
          .join('/'),
      ).toBe(name);
      expect(schedule.filter(isEarly).map(({ rounds }) => rounds)).toEqual([3, 4, 6]);
    }
    expect(withK('12/18/24').map(({ k }) => k)).toEqual([4, 32, 78]);
    expect(withK('8/12/18/24').map(({ k }) => k)).toEqual([0, 4, 31, 76]);
    expect(withK(LONG).map(({ k }) => k)).toEqual([4, 27, 90, 237, 605]);
  });

  it('reject an unknown name, and quote it', () => {
    expect(() => scheduleNamed('1/2/3')).toThrow(BenchError);
    expect(() => scheduleNamed('toString')).toThrow(/toString/);
  });

  it('give the last look at or before a round', () => {
    const schedule = scheduleNamed('12/18/24');
    const last = [2, 3, 11, 12, 17, 18, 24, 30].map((rounds) => lastLook(schedule, rounds)?.rounds);
    expect(last).toEqual([undefined, 3, 6, 12, 12, 18, 24, 24]);
  });

  it('of a fixed number of rounds have one look with the whole error budget, which is exact from 6 rounds on', () => {
    expect(fixedSchedule(5)).toEqual([{ rounds: 5 }]);
    expect(fixedSchedule(6)).toEqual([{ rounds: 6, k: 0 }]);
    expect(fixedSchedule(20)).toEqual([{ rounds: 20, k: 52 }]);
    expect(levelOf({ rounds: 20, k: 52 }, fixedSchedule(20))).toBe(0.05);
    expect(levelOf({ rounds: 20, k: 52 }, fixedSchedule(20), 4)).toBe(0.0125);
    expect(levelOf({ rounds: 5 }, fixedSchedule(5))).toBe(0.05);
  });

  it('spend at each look the error of its k, and nothing without a k', () => {
    const schedule: Schedule = [{ rounds: 6 }, ...scheduleNamed('12/18/24').slice(4)];
    expect(schedule.map((look) => levelOf(look, schedule))).toEqual([
      0, 0.0182342529296875, 0.03948163986206055,
    ]);
  });

  it.each([
    [1, 12],
    [6, 12],
    [14, 12],
    [30, 12],
    [31, 18],
  ])('can decide %i rows after %i rounds of 12/18/24', (rows, look) => {
    expect(firstDecisive(scheduleNamed('12/18/24'), rows)?.rounds).toBe(look);
  });
});

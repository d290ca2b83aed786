import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../src/analyse/comparison.ts';
import { fixedSchedule } from '../../src/analyse/looks.ts';
import { scheduleNamed } from '../../src/catalogue/looks.ts';
import { canDecide, compareRounds, compareTable, differencesOf } from '../../src/analyse/paired.ts';
import { intervalWithin, trimFor, walshAverages } from '../../src/analyse/signed-rank.ts';
import { createRandom, type Random } from '../../src/random.ts';

const RULES = { schedule: scheduleNamed('12/18/24'), better: 'lower', threshold: 0.02 } as const;
const width = ({ interval }: Comparison): number => (interval ? interval.high - interval.low : Infinity);
const fixed = (rounds: number) => ({ ...RULES, schedule: fixedSchedule(rounds) });

const drawn = (random: Random, rounds: number, centre: number, sd: number): number[] =>
  Array.from({ length: rounds }, () => centre + sd * random.normal());

describe('differencesOf', () => {
  it('pairs values by round, and drops rounds with a value that is missing or has no ratio', () => {
    expect(differencesOf([110, undefined, 0, 100, 50], [100, 100, 100, undefined], 'lower')).toEqual([
      Math.log(1.1),
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is positive if the candidate is worse', () => {
    expect(differencesOf([90], [100], 'higher')[0]).toBeGreaterThan(0);
    expect(differencesOf([90], [100], 'lower')[0]).toBeLessThan(0);
  });
});

describe('compareRounds', () => {
  const random = createRandom(11);
  const slow = drawn(random, 24, Math.log(1.08), 0.03);

  it('uses the interval of the look at its rounds, planned or not', () => {
    for (const [rounds, k] of [
      [11, 9],
      [12, 4],
      [17, 32],
      [18, 32],
      [24, 78],
    ] as const) {
      const comparison = compareRounds(slow.slice(0, rounds), RULES);
      expect(comparison.rounds).toBe(rounds);
      expect(comparison.interval).toEqual(intervalWithin(walshAverages(slow.slice(0, rounds)), k));
      expect(comparison.verdict).toBe('slower');
    }
  });

  it('returns the difference as a ratio', () => {
    const comparison = compareRounds(slow, RULES);
    expect(comparison.byMoreThanThreshold).toBe(true);
    expect(comparison.ratio?.estimate).toBe(Math.exp(comparison.estimate!));
    expect(comparison.ratio?.interval?.low).toBe(Math.exp(comparison.interval!.low));
    expect(comparison.ratio?.range).toEqual({
      low: Math.exp(Math.min(...slow)),
      high: Math.exp(Math.max(...slow)),
    });
  });

  it('calls a higher value faster if higher is better, with a ratio above 1', () => {
    const goodput = drawn(random, 24, 0, 0.01).map((log) => 1000 * Math.exp(log + 0.1));
    const differences = differencesOf(
      goodput,
      goodput.map(() => 1000),
      'higher',
    );
    const comparison = compareRounds(differences, { ...RULES, better: 'higher' });
    expect(comparison.verdict).toBe('faster');
    expect(comparison.ratio?.interval?.low).toBeGreaterThan(1.05);
  });

  it('returns an estimate and a range, but no interval, below 6 rounds', () => {
    const comparison = compareRounds(slow.slice(0, 5), RULES);
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'too-few-rounds', rounds: 5 });
    expect(comparison.interval).toBeUndefined();
    expect(comparison.ratio?.interval).toBeUndefined();
    expect(comparison.ratio?.range.high).toBe(Math.exp(Math.max(...slow.slice(0, 5))));
    expect(compareRounds(slow.slice(0, 6), { ...RULES, schedule: scheduleNamed('6/12/18') })).toMatchObject({
      verdict: 'undecided',
      why: 'too-few-rounds',
    });
  });

  it('decides from 6 rounds on if their number is fixed', () => {
    const clear = [0.1, 0.11, 0.12, 0.1, 0.13, 0.12];
    expect(compareRounds(clear, fixed(6))).toMatchObject({
      verdict: 'slower',
      interval: { low: 0.1, high: 0.13 },
    });
    expect(compareRounds(clear.slice(0, 5), fixed(5))).toMatchObject({
      verdict: 'undecided',
      why: 'too-few-rounds',
    });
  });

  it('estimates the rounds needed if it is undecided', () => {
    const noisy = drawn(createRandom(12), 24, 0, 0.2);
    const comparison = compareRounds(noisy, RULES);
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'wide' });
    const sixPercent = comparison.verdict === 'undecided' ? comparison.neededRounds! : 0;
    expect(sixPercent).toBeGreaterThan(24);
    expect(compareRounds(noisy, { ...RULES, soughtEffect: 0.12 })).toMatchObject({
      neededRounds: expect.closeTo(sixPercent * (Math.log(1.06) / Math.log(1.12)) ** 2, -0.5),
    });
  });

  it('keeps the level of the look if one of 24 rounds is dropped', () => {
    const row: (number | undefined)[] = slow
      .with(7, Number.NaN)
      .map((d) => (Number.isNaN(d) ? undefined : d));
    const comparison = compareRounds(row, RULES);
    expect(comparison).toMatchObject({ rounds: 23, dropped: 1, verdict: 'slower' });
    expect(comparison.interval).toEqual(intervalWithin(walshAverages(slow.toSpliced(7, 1)), 70));
  });

  it('counts dropped rounds as the worst differences if they are more than 5 %', () => {
    const row = slow.map((d, round) => (round === 3 || round === 20 ? undefined : d));
    const comparison = compareRounds(row, RULES);
    expect(comparison).toMatchObject({ verdict: 'slower', rounds: 22, dropped: 2 });
    const known = row.filter((d) => d !== undefined);
    const [highest, lowest] = [1e9, -1e9].map((worst) => {
      const { interval } = compareRounds([...known, worst, worst], RULES);
      return interval!;
    });
    expect(comparison.interval).toEqual({ low: lowest!.low, high: highest!.high });
    const ps = [1e9, -1e9].map((worst) => compareRounds([...known, worst, worst], RULES).adjustedP);
    expect(comparison.adjustedP).toBe(Math.max(...ps));
  });

  it('is undecided if the dropped rounds could have shown anything', () => {
    const row = slow.map((d, round) => (round === 3 ? undefined : d)).slice(0, 12);
    const comparison = compareRounds(row, RULES);
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'blocks-dropped', rounds: 11, dropped: 1 });
    expect(comparison.interval).toBeUndefined();
    expect(comparison.estimate).toBeGreaterThan(0.05);
  });

  it('is undecided without values, and rejects a threshold of 0', () => {
    expect(compareRounds([], RULES)).toEqual({
      verdict: 'undecided',
      byMoreThanThreshold: false,
      why: 'too-few-rounds',
      rounds: 0,
      dropped: 0,
      adjustedP: 1,
    });
    expect(
      compareRounds(
        slow.map(() => undefined),
        RULES,
      ),
    ).toMatchObject({ why: 'blocks-dropped', dropped: 24 });
    expect(() => compareRounds(slow, { ...RULES, threshold: 0 })).toThrow(RangeError);
  });
});

describe('compareTable', () => {
  it('widens all intervals equally, whatever the other rows show', () => {
    const random = createRandom(13);
    const rows = [drawn(random, 20, 0.3, 0.02), drawn(random, 20, 0.2, 0.02), drawn(random, 20, 0, 0.02)];
    const table = compareTable(rows, fixed(20));
    const alone = rows.map((row) => compareRounds(row, fixed(20)));
    expect(table.map(({ verdict }) => verdict)).toEqual(['slower', 'slower', 'same']);
    for (const [row, comparison] of table.entries()) {
      expect(width(comparison)).toBeGreaterThan(width(alone[row]!));
      expect(comparison.interval).toEqual(intervalWithin(walshAverages(rows[row]!), trimFor(20, 0.05 / 3)!));
    }
  });

  it('omits the rounds needed if that number was already measured', () => {
    // Undecided only because the true difference is near the threshold: 12 rounds would have shown 6 %.
    const near = drawn(createRandom(21), 12, 0.018, 0.01);
    expect(compareRounds(near, RULES)).toMatchObject({ verdict: 'undecided', why: 'wide' });
    expect(compareRounds(near, RULES)).not.toHaveProperty('neededRounds');
    // Before the first look, more rounds are always needed.
    expect(compareRounds(near.slice(0, 9), RULES)).toMatchObject({ neededRounds: 12 });
  });

  it('derives the verdict and the adjusted p value from the same interval', () => {
    const random = createRandom(14);
    let decided = 0;
    for (let table = 0; table < 300; table++) {
      const rows = Array.from({ length: 1 + random.below(6) }, (_, row) =>
        drawn(random, 18, 0.015 * row, 0.04),
      );
      for (const { interval, adjustedP, verdict } of compareTable(rows, RULES)) {
        const excludesZero = interval !== undefined && (interval.low > 0 || interval.high < 0);
        expect(excludesZero).toBe(adjustedP <= 0.05 * (1 + 1e-9));
        if (verdict === 'slower') decided++;
        expect(excludesZero || verdict === 'same' || verdict === 'undecided').toBe(true);
      }
    }
    expect(decided).toBeGreaterThan(20);
  });

  it('decides nothing with too few rounds for the number of rows', () => {
    const clear = [0.1, 0.11, 0.12, 0.1, 0.13, 0.12];
    expect(compareTable([clear, clear], fixed(6)).map(({ verdict }) => verdict)).toEqual([
      'undecided',
      'undecided',
    ]);
  });

  it('counts a row without values when it corrects for multiple rows', () => {
    const row = drawn(createRandom(15), 20, 0.1, 0.05);
    const [, beside] = compareTable([[undefined], row], fixed(20));
    expect(beside?.adjustedP).toBeCloseTo(2 * compareRounds(row, fixed(20)).adjustedP, 12);
  });
});

describe('canDecide', () => {
  it('gives a row up only when no look can decide it any more', () => {
    const most = [...Array(24).keys()].filter((dropped) => {
      const row = Array.from({ length: 24 }, (_, round) => (round < dropped ? undefined : 1 + round / 1000));
      return compareRounds(row, RULES).verdict === 'slower';
    });
    expect(most.length).toBeGreaterThan(2);
    for (let dropped = 0; dropped <= 24; dropped++)
      expect(canDecide(dropped, RULES.schedule, 1)).toBe(dropped < most.length);
  });
});

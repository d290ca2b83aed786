import { describe, expect, it } from 'vitest';
import type { Comparison } from '../src/comparison.ts';
import { fixedSchedule } from '../src/looks.ts';
import { scheduleNamed, type Schedule } from 'bench-targets/catalogue/looks';
import { differenceOf, exactly } from '../src/differences.ts';
import { exact } from '../src/metrics.ts';
import { canDecide, type PairedRules } from '../src/paired.ts';
import * as paired from '../../bench-lab/testing/replay.ts';
import { trimFor, trimmedInterval } from 'bench-statistics/signed-rank';
import { createRandom, type Random } from 'bench-statistics/random';
import { describeVerdict } from 'bench-report/compare';

/** Its first look decides nothing. */
const LATE_FIRST: Schedule = [{ rounds: 6 }, { rounds: 12, k: 8 }, { rounds: 18, k: 39 }];
const RULES = { schedule: scheduleNamed('12/18/24'), better: 'lower', threshold: 0.02 } as const;
const width = ({ interval }: Comparison): number => (interval ? interval.high - interval.low : Infinity);
const fixed = (rounds: number) => ({ ...RULES, schedule: fixedSchedule(rounds) });

type Values = readonly (number | undefined)[];

/** Compares differences that are known exactly, or not at all. */
const compareTable = (rows: readonly Values[], rules: PairedRules): Comparison[] =>
  paired.compareTable(rows.map(exactly), rules);
const compareRounds = (row: Values, rules: PairedRules): Comparison => compareTable([row], rules)[0]!;

const drawn = (random: Random, rounds: number, centre: number, sd: number): number[] =>
  Array.from({ length: rounds }, () => centre + sd * random.normal());

const figures = (values: Values) => values.map((value) => (value === undefined ? undefined : exact(value)));
const valuesOf = (ours: Values, theirs: Values, better: 'lower' | 'higher') =>
  figures(ours).map((own, round) => differenceOf(own, figures(theirs)[round], better)?.value);

/** Costs of a candidate, of which those at these indices are 40 % dearer, against a baseline of 100. */
function compareDear(
  dear: readonly number[],
  { rounds = 23, cost = 100, isBaseline = false } = {},
): Comparison {
  const random = createRandom(21);
  const differences = Array.from({ length: rounds }, (_, index) => {
    const own = cost * (dear.includes(index) ? 1.4 : 1) * (1 + 0.001 * random.normal());
    const pair = [exact(own), exact(100 * (1 + 0.001 * random.normal()))] as const;
    return differenceOf(pair[isBaseline ? 1 : 0], pair[isBaseline ? 0 : 1], 'lower');
  });
  return paired.compareRounds(differences, { ...fixed(rounds), isCost: true });
}

describe('the differences of two targets', () => {
  it('know nothing of a round whose value is missing or has no ratio', () => {
    expect(valuesOf([110, undefined, 0, 100, 50], [100, 100, 100, undefined], 'lower')).toEqual([
      Math.log(1.1),
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are positive if the candidate is worse', () => {
    expect(valuesOf([90], [100], 'higher')[0]).toBeGreaterThan(0);
    expect(valuesOf([90], [100], 'lower')[0]).toBeLessThan(0);
  });
});

describe('a mean that is not that of the typical process', () => {
  it('is that of the other rounds if one in twenty failed, and unknown if more did', () => {
    const [most, few] = [24, 12].map((rounds) => {
      const row = Array.from({ length: rounds }, (_, at) => (at === 4 ? undefined : 0.001 * (at % 3)));
      return compareRounds(row, fixed(rounds));
    }) as [Comparison, Comparison];
    expect(most).toMatchObject({ verdict: 'same', unbounded: 1 });
    expect(few).toMatchObject({ verdict: 'undecided', why: 'mean', unbounded: 1 });
    expect(describeVerdict({ comparison: few })).toContain(
      'but the mean of all is not known: 1 of 12 rounds have no figure',
    );
  });

  it('keeps equal servers from being called the same, and names the dear processes', () => {
    const found = compareDear([3, 8, 16]);
    expect(found).toMatchObject({
      verdict: 'undecided',
      why: 'mean',
      dear: { isCandidate: true, rounds: [4, 9, 17] },
    });
    expect(found.dear?.factor).toBeCloseTo(1.4, 2);
    expect(found.ratio?.estimate).toBeCloseTo(1, 2);
    expect(found.mean?.estimate).toBeCloseTo(1 + (3 * 0.4) / 23, 2);
    expect(found.mean!.interval.high).toBeGreaterThan(1.052);
  });

  it('takes away a verdict on the other side, and no other', () => {
    expect(compareDear([3, 8, 16], { cost: 97 })).toMatchObject({ verdict: 'undecided', why: 'mean' });
    expect(compareDear([3, 8, 16], { cost: 80 })).toMatchObject({ verdict: 'faster' });
    expect(compareDear([3, 8, 16], { cost: 103 })).toMatchObject({ verdict: 'slower' });
    expect(compareDear([])).toMatchObject({ verdict: 'same' });
    expect(compareDear([]).dear).toBeUndefined();
  });

  it('is that of the baseline if its processes are dear', () => {
    const { dear, mean } = compareDear([3, 8, 16], { isBaseline: true });
    expect(dear).toMatchObject({ isCandidate: false, rounds: [4, 9, 17] });
    expect(mean?.estimate).toBeCloseTo(1 / (1 + (3 * 0.4) / 23), 2);
    expect(mean!.interval.low).toBeLessThan(mean!.interval.high);
  });

  it.each([false, true])(
    'is told with the two kinds of processes that a server has, the baseline: %s',
    (isBaseline) => {
      const found = compareDear([0, 2, 5, 7], { rounds: 9, isBaseline });
      expect(describeVerdict({ comparison: found, candidate: 'HEAD', baseline: 'main' })).toMatch(
        new RegExp(
          `^undecided: .+; 4 of 9 processes of ${isBaseline ? 'main' : 'HEAD'} cost 40 % more \\(rounds 1, 3, 6 and 8\\)`,
        ),
      );
    },
  );

  it('is the ratio of the sums, in rounds of any pace of the machine', () => {
    const paces = Array.from({ length: 12 }, (_, index) => 1 + (index % 3));
    const rounds = paces.map((pace) => differenceOf(exact(106 * pace), exact(100 * pace), 'lower'));
    expect(paired.compareRounds(rounds, fixed(12)).mean?.estimate).toBeCloseTo(1.06, 10);
    const goodput = paces.map((pace) => differenceOf(exact(100 * pace), exact(125 * pace), 'higher'));
    const higher = paired.compareRounds(goodput, { ...fixed(12), better: 'higher' });
    expect(higher).toMatchObject({ verdict: 'slower' });
    expect(higher.mean?.estimate).toBeCloseTo(0.8, 10);
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
      expect(comparison.interval).toEqual(trimmedInterval(slow.slice(0, rounds), k));
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
    const differences = goodput.map((one) => differenceOf(exact(one), exact(1000), 'higher'));
    const comparison = paired.compareRounds(differences, { ...RULES, better: 'higher' });
    expect(comparison.verdict).toBe('faster');
    expect(comparison.ratio?.interval?.low).toBeGreaterThan(1.05);
  });

  it('returns an estimate and a range, but no interval, below 6 rounds', () => {
    const comparison = compareRounds(slow.slice(0, 5), RULES);
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'too-few-rounds', rounds: 5 });
    expect(comparison.interval).toBeUndefined();
    expect(comparison.ratio?.interval).toBeUndefined();
    expect(comparison.ratio?.range.high).toBe(Math.exp(Math.max(...slow.slice(0, 5))));
    expect(compareRounds(slow.slice(0, 6), { ...RULES, schedule: LATE_FIRST })).toMatchObject({
      verdict: 'undecided',
      why: 'too-few-rounds',
    });
  });

  it('has the exact interval from 6 rounds on if their number is fixed, and a wider one before', () => {
    const clear = [0.1, 0.11, 0.12, 0.1, 0.13, 0.12];
    expect(compareRounds(clear, fixed(6))).toMatchObject({
      verdict: 'slower',
      interval: { low: 0.1, high: 0.13 },
    });
    const few = clear.slice(0, 3);
    expect(width(compareRounds(few, fixed(3)))).toBeGreaterThan(Math.max(...few) - Math.min(...few));
  });

  it('estimates how many more rounds decide it', () => {
    const noisy = drawn(createRandom(12), 24, 0, 0.05);
    const comparison = compareRounds(noisy, RULES);
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'wide', moreRounds: expect.any(Number) });
    expect(compareRounds(noisy.slice(0, 2), fixed(2))).toMatchObject({
      why: 'too-few-rounds',
      moreRounds: 4,
    });
    expect(compareRounds(noisy.slice(0, 4), RULES)).toMatchObject({ why: 'too-few-rounds', moreRounds: 2 });
  });

  it('counts rounds of which nothing is known as the worst differences', () => {
    const row = slow.map((d, round) => (round === 3 || round === 20 ? undefined : d));
    const comparison = compareRounds(row, RULES);
    expect(comparison).toMatchObject({ verdict: 'slower', rounds: 24, unbounded: 2 });
    const known = row.filter((d) => d !== undefined);
    const [highest, lowest] = [1e9, -1e9].map((worst) => {
      const { interval } = compareRounds([...known, worst, worst], RULES);
      return interval!;
    });
    expect(comparison.interval).toEqual({ low: lowest!.low, high: highest!.high });
  });

  it('holds for every difference within its bounds', () => {
    const doubts = slow.map((value, round) =>
      round % 8 === 0 ? { value, low: value - 0.2, high: value + 0.2 } : exact(value),
    );
    const comparison = paired.compareTable([doubts], RULES)[0]!;
    expect(comparison).toMatchObject({ verdict: 'slower', rounds: 24, unbounded: 0 });
    const within = createRandom(12);
    for (let draw = 0; draw < 100; draw++) {
      const truth = doubts.map(({ low, high }) => exact(low + (high - low) * within.float()));
      const { interval } = paired.compareTable([truth], RULES)[0]!;
      expect(comparison.interval!.low).toBeLessThanOrEqual(interval!.low);
      expect(comparison.interval!.high).toBeGreaterThanOrEqual(interval!.high);
    }
  });

  it('lets a doubt of 20 % veto no effect of 86 %', () => {
    const dear = drawn(random, 12, Math.log(1.86), 0.03).map((value, round) =>
      round < 2 ? { value, low: value - 0.2, high: value + 0.2 } : exact(value),
    );
    expect(paired.compareTable([dear], RULES)[0]).toMatchObject({
      verdict: 'slower',
      byMoreThanThreshold: true,
    });
  });

  it('is undecided if the dropped rounds could have shown anything', () => {
    const row = slow.map((d, round) => (round === 3 ? undefined : d)).slice(0, 12);
    const comparison = compareRounds(row, RULES);
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'unbounded', rounds: 12, unbounded: 1 });
    expect(comparison.interval).toBeUndefined();
    expect(comparison.estimate).toBeGreaterThan(0.05);
  });

  it('is undecided without values, and rejects a threshold of 0', () => {
    expect(compareRounds([], RULES)).toEqual({
      verdict: 'undecided',
      byMoreThanThreshold: false,
      why: 'too-few-rounds',
      rounds: 0,
      unbounded: 0,
    });
    expect(
      compareRounds(
        slow.map(() => undefined),
        RULES,
      ),
    ).toMatchObject({ why: 'unbounded', unbounded: 24 });
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
      expect(comparison.interval).toEqual(trimmedInterval(rows[row]!, trimFor(20, 0.05 / 3)!));
    }
  });

  it('derives the verdict from the interval', () => {
    const random = createRandom(14);
    let decided = 0;
    for (let table = 0; table < 300; table++) {
      const rows = Array.from({ length: 1 + random.below(6) }, (_, row) =>
        drawn(random, 18, 0.015 * row, 0.04),
      );
      for (const { interval, verdict } of compareTable(rows, RULES)) {
        const excludesZero = interval !== undefined && (interval.low > 0 || interval.high < 0);
        if (verdict === 'slower') decided++;
        expect(excludesZero || verdict === 'same' || verdict === 'undecided').toBe(true);
      }
    }
    expect(decided).toBeGreaterThan(20);
  });

  it('has intervals of a single look also after too few rounds for exact ones', () => {
    const clear = [0.1, 0.11, 0.12, 0.1, 0.13, 0.12];
    const table = compareTable([clear, clear], fixed(6));
    expect(table.map(({ verdict }) => verdict)).toEqual(['slower', 'slower']);
    expect(compareTable([clear, clear], { ...RULES, schedule: LATE_FIRST })).toMatchObject([
      { why: 'too-few-rounds' },
      { why: 'too-few-rounds' },
    ]);
  });

  it('shares its error with a row without values', () => {
    const row = drawn(createRandom(15), 20, 0.1, 0.05);
    const [, beside] = compareTable([[undefined], row], fixed(20));
    expect(width(beside!)).toBeGreaterThan(width(compareRounds(row, fixed(20))));
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

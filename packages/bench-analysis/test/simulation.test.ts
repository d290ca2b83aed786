import { describe, expect, it } from 'vitest';
import type { Comparison } from '../src/comparison.ts';
import { fixedSchedule, isEarly } from '../src/looks.ts';
import { type Schedule, scheduleNamed } from 'bench-targets/catalogue/looks';
import { exactly, findKinds } from '../src/differences.ts';
import {
  compareRounds,
  compareTable,
  countVerdicts,
  replayTest,
  type VerdictShares,
} from '../../bench-lab/testing/replay.ts';
import { createRandom, type Random } from 'bench-statistics/random';
import { type Noise, NOISES, drawTests } from './noise.ts';

const USUAL = scheduleNamed('12/18/24');
const RULES = { schedule: USUAL, better: 'lower', threshold: 0.02 } as const;

/** Simulates sequential tests under this noise. `sd` is the standard deviation of one round's log ratio. */
function simulate(
  noise: Noise,
  sd: number,
  effect: number,
  count: number,
  schedule: Schedule = USUAL,
): VerdictShares {
  const random = createRandom(1);
  const draw = drawTests(noise, sd, effect, random);
  const rounds = schedule.at(-1)!.rounds;
  return countVerdicts({ ...RULES, schedule, tests: count }, () => exactly(draw(rounds)));
}

/** Log ratios of rows to one baseline, whose noise they share. */
function drawTable(effects: readonly number[], random: Random): number[][] {
  const baseline = Array.from({ length: 24 }, () => 0.04 * random.normal());
  return effects.map((effect) => baseline.map((own) => Math.log(1 + effect) + 0.04 * random.normal() - own));
}

const differs = ({ verdict }: Comparison): boolean => verdict === 'faster' || verdict === 'slower';

/** The share of equal servers that an early look calls different, with differences from `draw`. */
function alarms(draw: (random: Random) => number): number {
  const random = createRandom(11);
  const early = USUAL.filter(isEarly);
  const tests = 10_000;
  let wrong = 0;
  for (let test = 0; test < tests; test++) {
    const values = exactly(Array.from({ length: 6 }, () => draw(random)));
    if (early.some(({ rounds }) => differs(compareRounds(values.slice(0, rounds), RULES)))) wrong++;
  }
  return wrong / tests;
}

function pace(random: Random, apart: number): number {
  return random.coin() ? apart : 0;
}

/** The share of tests that call servers the same, of which one has this share of processes that cost so much more. */
function shareOfSame(share: number, more: number): number {
  const random = createRandom(13);
  const draw = () =>
    exactly(
      Array.from(
        { length: 24 },
        () => 0.01 * random.normal() + (random.float() < share ? Math.log(1 + more) : 0),
      ),
    );
  return countVerdicts({ ...RULES, tests: 1000 }, draw).verdicts.same;
}

/** The share of samples of so many rounds that look like two kinds of processes. */
function shareOfKinds(rounds: number, draw: (rounds: number) => number[]): number {
  const found = Array.from({ length: 2000 }, () => findKinds(exactly(draw(rounds)), Math.log(1.02)));
  return found.filter((one) => one !== undefined).length / found.length;
}

const each = (draw: () => number) => (rounds: number) => Array.from({ length: rounds }, draw);
const KINDS = createRandom(3);
const skewed = (): number => -0.3 * Math.log(1 - KINDS.float());
const drawHalf = (rounds: number): number[] =>
  Array.from({ length: rounds }, (_, at) => 0.02 * KINDS.normal() + (at < rounds >> 1 ? 0.34 : 0));

describe('two kinds of processes', () => {
  const noises = {
    ...Object.fromEntries(NOISES.map((noise) => [noise, drawTests(noise, 0.08, 0, KINDS)])),
    'bursts of rounds': each(() => 0.02 * KINDS.normal() * (KINDS.float() < 0.3 ? 10 : 1)),
    'one-sided bursts': each(() => 0.02 * KINDS.normal() + (KINDS.float() < 0.15 ? skewed() : 0)),
    skewed: each(skewed),
  };

  it.each(Object.entries(noises))('are seen in at most 1 %% of samples of noise: %s', (_name, draw) => {
    for (const rounds of [8, 9, 12, 18, 24, 40]) expect(shareOfKinds(rounds, draw)).toBeLessThanOrEqual(0.01);
  });

  it('are seen if half of the processes, or four of nine, cost 40 % more', () => {
    for (const rounds of [8, 9, 12, 24]) expect(shareOfKinds(rounds, drawHalf)).toBeGreaterThan(0.95);
  });
});

describe.each(NOISES)('%s noise', (noise) => {
  it('A/A at sd(d) = 0.08: faster or slower ≤ 0.055, "by more than 2 percent" ≤ 0.01', () => {
    const { verdicts, byMoreThanThreshold } = simulate(noise, 0.08, 0, 1500);
    expect(verdicts.faster + verdicts.slower).toBeLessThanOrEqual(0.055);
    expect(byMoreThanThreshold).toBeLessThanOrEqual(0.01);
  });

  it('A/A at sd(d) = 0.01: same > 0.99, never faster or slower', () => {
    const { verdicts } = simulate(noise, 0.01, 0, 500);
    expect(verdicts.same).toBeGreaterThan(0.99);
    expect(verdicts.faster + verdicts.slower).toBe(0);
  });

  it.each([0.01, 0.08])(
    'exactly +2 percent at sd(d) = %d: "by more than 2 percent", same and faster each ≤ 0.035',
    (sd) => {
      const { verdicts, byMoreThanThreshold } = simulate(noise, sd, 0.02, 800);
      expect(byMoreThanThreshold).toBeLessThanOrEqual(0.035);
      expect(verdicts.same).toBeLessThanOrEqual(0.035);
      expect(verdicts.faster).toBeLessThanOrEqual(0.035);
    },
  );

  it('+6 and +3 percent at sd(d) = 0.054: +6 is found, neither is called same or faster', () => {
    const six = simulate(noise, 0.054, 0.06, 500).verdicts;
    expect(six.slower).toBeGreaterThanOrEqual(0.95);
    expect(six.faster + six.same).toBe(0);
    const three = simulate(noise, 0.054, 0.03, 500).verdicts;
    expect(three.faster + three.same).toBeLessThanOrEqual(0.005);
  });

  it('6 rounds and one look: wrong A/A verdicts ≤ 0.055, exactly +2 called "by more" ≤ 0.035', () => {
    const none = simulate(noise, 0.08, 0, 1500, fixedSchedule(6)).verdicts;
    expect(none.faster + none.slower).toBeLessThanOrEqual(0.055);
    const two = simulate(noise, 0.03, 0.02, 1200, fixedSchedule(6));
    expect(two.byMoreThanThreshold).toBeLessThanOrEqual(0.035);
  });
});

describe('an early look', () => {
  it.each([
    ['normal noise', (random: Random) => 0.1 * random.normal()],
    ['bursts', (random: Random) => 0.02 * random.normal() * (random.float() < 0.1 ? 10 : 1)],
    ['heavy tails', (random: Random) => (0.02 * random.normal()) / Math.sqrt(-Math.log(1 - random.float()))],
    ['processes of two paces, 10 % apart', (random: Random) => pace(random, 0.1) - pace(random, 0.1)],
    [
      'one process in ten that costs 40 % more',
      (random: Random) =>
        0.01 * random.normal() + (random.float() < 0.1 ? 0.34 : 0) - (random.float() < 0.1 ? 0.34 : 0),
    ],
  ] as const)('is wrong about equal servers with %s in at most 0.1 %% of runs', (_, draw) => {
    expect(alarms(draw)).toBeLessThanOrEqual(0.001);
  });

  it('decides half as much again after three or four rounds of 2 % noise', () => {
    const random = createRandom(12);
    const rounds = Array.from({ length: 500 }, () =>
      replayTest(exactly(Array.from({ length: 24 }, () => Math.log(1.5) + 0.02 * random.normal())), RULES),
    ).map((comparison) => comparison.rounds);
    expect(rounds.filter((count) => count <= 4).length).toBeGreaterThan(480);
  });
});

describe('equal typical processes with different means', () => {
  it('are not called the same if one process in ten costs 30 % more, or three in twenty 40 %', () => {
    expect(shareOfSame(0.1, 0.3)).toBeLessThan(0.32);
    expect(shareOfSame(0.15, 0.4)).toBeLessThan(0.17);
  });
});

describe('the simulation shows that', () => {
  it('looking after every round is wrong far more often', () => {
    const draw = drawTests('normal', 0.08, 0, createRandom(2));
    const everyRound = Array.from({ length: 19 }, (_, i) => 6 + i);
    const wrong = Array.from({ length: 1000 }, () => draw(24)).filter((differences) =>
      everyRound.some((rounds) =>
        differs(
          compareRounds(exactly(differences.slice(0, rounds)), { ...RULES, schedule: fixedSchedule(rounds) }),
        ),
      ),
    );
    expect(wrong.length).toBeGreaterThan(120);
  });

  it('a table whose rows do not share the error budget is wrong far more often', () => {
    const random = createRandom(3);
    const tables = Array.from({ length: 500 }, () => drawTable([0, 0, 0, 0, 0, 0], random));
    const wrong = tables.filter((rows) => rows.some((row) => differs(compareRounds(exactly(row), RULES))));
    expect(wrong.length).toBeGreaterThan(50);
  });
});

describe('a table of six rows against one baseline', () => {
  it('has a faster or slower row at any look in ≤ 0.055 of tables if all are equal', () => {
    const random = createRandom(3);
    const tables = Array.from({ length: 600 }, () => drawTable([0, 0, 0, 0, 0, 0], random));
    const wrong = tables.filter((rows) =>
      USUAL.some(({ rounds }) => {
        const soFar = rows.map((row) => exactly(row.slice(0, rounds)));
        return compareTable(soFar, RULES).some(differs);
      }),
    );
    expect(wrong.length / tables.length).toBeLessThanOrEqual(0.055);
  });

  it('finds the three rows that differ, with a wrong verdict in ≤ 0.055 of tables', () => {
    const random = createRandom(4);
    const tables = Array.from({ length: 500 }, () =>
      compareTable(drawTable([0.3, -0.2, 0.15, 0, 0, 0], random).map(exactly), RULES).map(
        ({ verdict }) => verdict,
      ),
    );
    const wrong = tables.filter(
      (verdicts) =>
        ['faster', 'same'].includes(verdicts[0]!) ||
        ['slower', 'same'].includes(verdicts[1]!) ||
        ['faster', 'same'].includes(verdicts[2]!) ||
        verdicts.slice(3).some((verdict) => verdict === 'faster' || verdict === 'slower'),
    );
    const found = tables.filter((verdicts) => verdicts.slice(0, 3).join() === 'slower,faster,slower');
    expect(wrong.length / tables.length).toBeLessThanOrEqual(0.055);
    expect(found.length / tables.length).toBeGreaterThan(0.95);
  });
});

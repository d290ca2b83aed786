import { describe, expect, it } from 'vitest';
import { exactly } from '../../src/analyse/differences.ts';
import { compareWithin } from '../../src/analyse/compare.ts';
import { robustDeviation } from '../../src/analyse/quantiles.ts';
import { chooseDifferences, differenceOfTurns } from '../../src/analyse/turns.ts';
import { createRandom, type Random } from '../../src/random.ts';
import { makeReason } from '../../src/reasons.ts';
import type { Trial, Turns } from '../../src/results/record.ts';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../samples.ts';

const ANSWERS = 400;
const PAIRS = 50;

/** Turns with these costs per request, in µs. */
const turnsOf = (costs: number[]): Turns => ({
  answers: costs.map(() => ANSWERS),
  cpuUs: costs.map((cost) => cost * ANSWERS),
  goodputPerSecond: costs.map((cost) => 1e6 / cost),
});

/**
 * The turns of two servers. The second costs `ratio` times as much as the first. A burst triples the cost of one turn in
 * 20; `extra` is an added cost of the second server in one turn of 10.
 */
function sampleTurns(random: Random, ratio: number, extra = 0): [Turns, Turns] {
  const noise = () => Math.exp(0.04 * random.normal()) * (random.float() < 0.05 ? 3 : 1);
  const pairs = Array.from({ length: PAIRS }, (_, turn) => [
    50 * noise(),
    50 * ratio * noise() * (turn % 10 === 0 ? 1 + extra : 1),
  ]);
  return [turnsOf(pairs.map(([base]) => base ?? 0)), turnsOf(pairs.map(([, other]) => other ?? 0))];
}

const costOf = ({ cpuUs = [], answers }: Turns) =>
  cpuUs.reduce((all, us) => all + us, 0) / answers.reduce((all, count) => all + count, 0);

/** Rounds of a duel of `vanilla` and `fastify`, with their turns. */
function duelOf(ratio: number, { extra = 0, rounds = 12, seed = 7 } = {}) {
  const random = createRandom(seed);
  const plan = samplePlan(`--duel --connections 10 --rounds ${rounds}`);
  const trials = Array.from({ length: rounds }, (_, index): Trial[] => {
    const turns = sampleTurns(random, ratio, extra);
    return ['vanilla', 'fastify'].map((name, side) => ({
      ...okTrial(name, sampleMeasured({ cpu: costOf(turns[side]!) }), { round: index + 1 }),
      measured: { ...sampleMeasured({ cpu: costOf(turns[side]!) }), turns: turns[side]! },
      duel: `c10-r${index + 1}`,
    }));
  }).flat();
  return { ...readGoldenRun(), plan, trials };
}

const CPU = { by: 'cpu', threshold: 0.02 } as const;

describe('a round of turns', () => {
  it('yields the centre of the ratios of neighbouring turns', () => {
    const [base, other] = [turnsOf([10, 20, 10, 40, 10]), turnsOf([11, 22, 11, 4, 11])];
    expect(differenceOfTurns(other, base, 'cpu', 'lower')).toBeCloseTo(Math.log(1.1));
    expect(differenceOfTurns(base, other, 'cpu', 'lower')).toBeCloseTo(-Math.log(1.1));
    expect(differenceOfTurns(other, base, 'goodput', 'higher')).toBeCloseTo(Math.log(1.1));
  });

  it('compares each turn with the nearest one of its baseline, if their places are known', () => {
    // The machine is ten times slower from place 11 on.
    const base = { ...turnsOf([10, 10, 10, 10, 100, 100]), places: [1, 4, 7, 10, 13, 16] };
    const other = { ...turnsOf([11, 110, 110, 110, 110]), places: [9, 12, 15, 18, 21] };
    expect(differenceOfTurns(other, base, 'cpu', 'lower')).toBeCloseTo(Math.log(1.1));
    const { places: _, ...apart } = other;
    expect(differenceOfTurns(apart, base, 'cpu', 'lower')).not.toBeCloseTo(Math.log(1.1));
    expect(differenceOfTurns(base, { ...turnsOf([9]), places: [5] }, 'cpu', 'lower')).toBeDefined();
  });

  it('omits pairs in which a server answered nothing, and needs more than half of the pairs', () => {
    const base = turnsOf(Array(8).fill(10));
    const other = turnsOf(Array(8).fill(11));
    other.answers[0] = 0;
    expect(differenceOfTurns(other, base, 'cpu', 'lower')).toBeCloseTo(Math.log(1.1));
    other.answers.fill(0, 0, 4);
    expect(differenceOfTurns(other, base, 'cpu', 'lower')).toBeUndefined();
  });

  it('yields no latency, no memory, and no CPU that was not read', () => {
    const { cpuUs: _, ...unread } = turnsOf(Array(8).fill(10));
    const turns = turnsOf(Array(8).fill(10));
    expect(differenceOfTurns(unread, turns, 'cpu', 'lower')).toBeUndefined();
    for (const by of ['p50', 'p99', 'memory', 'startup'] as const)
      expect(differenceOfTurns(turns, turns, by, 'lower')).toBeUndefined();
  });

  it('varies less than the ratio of sums under bursts', () => {
    const random = createRandom(3);
    const rounds = Array.from({ length: 300 }, () => {
      const [base, other] = sampleTurns(random, 1);
      return [differenceOfTurns(other, base, 'cpu', 'lower') ?? 0, Math.log(costOf(other) / costOf(base))];
    });
    const [turns, sums] = [0, 1].map((of) => robustDeviation(rounds.map((round) => round[of]!))) as [
      number,
      number,
    ];
    expect(turns).toBeLessThan(sums / 3);
  });
});

describe('a comparison of a duel', () => {
  it('uses the turns', () => {
    const { comparison } = compareWithin(duelOf(1.03), CPU).rows[0]!;
    expect(comparison.verdict).toBe('slower');
    expect(comparison.ratio?.estimate).toBeCloseTo(1.03, 2);
    const figures = duelOf(1.03);
    for (const { measured } of figures.trials as { measured: { turns?: Turns } }[]) delete measured.turns;
    expect(compareWithin(figures, CPU).rows[0]!.comparison.verdict).toBe('undecided');
  });

  it('counts rounds in which the hypervisor took CPU time from both alike', () => {
    const stolen = (run: ReturnType<typeof duelOf>) => ({
      ...run,
      trials: run.trials.map((trial): Trial => {
        if (trial.status === 'failed') throw new Error('failed');
        return { ...trial, status: 'suspect', reasons: [makeReason('steal', { cores: 0.3 })] };
      }),
    });
    const { comparison } = compareWithin(stolen(duelOf(1.03)), CPU).rows[0]!;
    expect(comparison).toEqual(compareWithin(duelOf(1.03), CPU).rows[0]!.comparison);
    const alone = stolen(duelOf(1.5));
    for (const trial of alone.trials) delete trial.duel;
    expect(compareWithin(alone, CPU).rows[0]!.comparison.verdict).toBe('undecided');
  });

  it('uses the totals of trials that are not the same duel', () => {
    const apart = duelOf(1.03);
    apart.trials = apart.trials.map((trial, index) => ({ ...trial, duel: `c10-${index}` }));
    expect(compareWithin(apart, CPU).rows[0]!.comparison.verdict).toBe('undecided');
  });

  it('uses the sums if a server has a cost in only a few of its turns', () => {
    // 50 % more in every tenth turn is 5 % more CPU per request, and the centre of the turns hardly moves.
    const [turns, sums] = [false, true].map((isLong) => {
      const run = duelOf(1, { extra: 0.5, rounds: isLong ? 60 : 5 });
      return compareWithin(run, CPU).rows[0]!.comparison.estimate ?? 0;
    }) as [number, number];
    expect(turns).toBeLessThan(0.02);
    expect(sums).toBeGreaterThan(0.025);
  });
});

describe('the choice between turns and sums', () => {
  it('keeps a dropped round dropped, and uses the sum of a round without turns', () => {
    const chosen = chooseDifferences([0.1, 0.2, undefined], exactly([0.3, undefined, 0.4]));
    expect(chosen.map((one) => one?.value)).toEqual([0.1, undefined, 0.4]);
  });

  it('uses the sums if they differ from the turns in one direction', () => {
    const sums = [0.05, 0.06, 0.04, 0.05, 0.07, 0.055];
    const level = sums.map(() => 0.01);
    expect(chooseDifferences(level, exactly(sums))).toEqual(exactly(sums));
    const around = sums.map((sum, index) => sum + (index % 2 ? 0.01 : -0.01));
    expect(chooseDifferences(around, exactly(sums))).not.toEqual(exactly(sums));
  });
});

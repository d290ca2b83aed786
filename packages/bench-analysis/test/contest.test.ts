import type { Differences } from 'bench-statistics/two-way';
import { describe, expect, it } from 'vitest';
import { type Contested, rankTargets } from '../src/contest.ts';
import { exactly } from '../src/differences.ts';
import { compareGroups } from '../src/paired.ts';
import { fixedSchedule } from '../src/looks.ts';
import { createRandom, type Random } from 'bench-statistics/random';

const RULES = { better: 'lower', threshold: 0.02 } as const;

type Costs = Record<string, readonly (number | undefined)[]>;

function differencesOf(costs: Costs, candidate: string, baseline: string): Differences {
  return exactly(
    costs[candidate]!.map((cost, round) => {
      const other = costs[baseline]![round];
      return cost === undefined || other === undefined ? undefined : Math.log(cost / other);
    }),
  );
}

function contest(costs: Costs, measure = differencesOf): Contested[] {
  const names = Object.keys(costs);
  const pairs = names.flatMap((baseline, index) =>
    names.slice(index + 1).map((candidate) => {
      return { connections: 10, candidate, baseline, differences: measure(costs, candidate, baseline) };
    }),
  );
  const schedule = fixedSchedule(Object.values(costs)[0]!.length);
  const compared = compareGroups([pairs], { ...RULES, schedule });
  return pairs.map((pair, index) => ({ ...pair, ...compared[index]! }));
}

const ranksOf = (costs: Costs): Record<string, number> =>
  Object.fromEntries(rankTargets(Object.keys(costs), contest(costs), RULES.threshold));

const between = (costs: Costs, candidate: string, baseline: string) =>
  contest({ [baseline]: costs[baseline]!, [candidate]: costs[candidate]!, ...costs })[0]!.comparison;

/** Servers whose costs vary by 2 % between rounds, and which cost these multiples of the first. */
function drawCosts(ratios: readonly number[], rounds: number, random: Random): Costs {
  return Object.fromEntries(
    ratios.map((ratio, server) => [
      `s${server}`,
      Array.from({ length: rounds }, () => 20 * ratio * Math.exp(0.02 * random.normal())),
    ]),
  );
}

describe('the contest of a rung', () => {
  const MATRIX = [2, 5, 14].flatMap((servers) => [3, 6, 12].map((rounds) => [servers, rounds] as const));
  const TABLES = 200;
  // 5 %, and three standard deviations of this many tables.
  const MOST = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / TABLES);

  it.each(MATRIX)('rarely ranks %i equal servers after %i rounds', (servers, rounds) => {
    const random = createRandom(100 * servers + rounds);
    const equal = Array<number>(servers).fill(1);
    const wrong = Array.from({ length: TABLES }, () => ranksOf(drawCosts(equal, rounds, random))).filter(
      (ranks) => new Set(Object.values(ranks)).size > 1,
    );
    expect(wrong.length / TABLES).toBeLessThanOrEqual(MOST);
  });

  it.each([2, 5, 14])('ranks one of %i servers that costs 15 %% more, after three rounds', (servers) => {
    const random = createRandom(servers);
    const ratios = [...Array<number>(servers - 1).fill(1), 1.15];
    const found = Array.from({ length: TABLES }, () => {
      const ranks = ranksOf(drawCosts(ratios, 3, random));
      return (ranks[`s${servers - 1}`]! - 1) / (servers - 1);
    });
    expect(found.reduce((sum, share) => sum + share, 0) / TABLES).toBeGreaterThan(0.88);
  });

  it('never ranks two targets against their verdict', () => {
    const random = createRandom(7);
    for (let table = 0; table < 100; table++) {
      const costs = drawCosts([1, 1.03, 1.06], 3 + (table % 7), random);
      const ranks = rankTargets(['s0', 's1'], contest(costs), RULES.threshold);
      const { verdict } = between(costs, 's1', 's0');
      const order = { slower: -1, faster: 1, same: 0, undecided: 0 }[verdict];
      expect(Math.sign(ranks.get('s0')! - ranks.get('s1')!)).toBe(order);
    }
  });

  const FIVE: Costs = {
    gin: [20, 20.4, 20.1],
    fastify: [24, 24.3, 24.5],
    uvicorn: [60, 59.5, 60.8],
    litestar: [61, 60.2, 60.1],
    fastapi: [160, 161, 163],
  };

  it('decides on a server that uses eight times the CPU, and ranks it last', () => {
    const { verdict, byMoreThanThreshold, ratio } = between(FIVE, 'fastapi', 'gin');
    expect({ verdict, byMoreThanThreshold }).toEqual({ verdict: 'slower', byMoreThanThreshold: true });
    expect(ratio!.interval!.low).toBeGreaterThan(6);
    expect(ranksOf(FIVE)).toEqual({ gin: 1, fastify: 2, uvicorn: 3, litestar: 3, fastapi: 5 });
  });

  it('has one result for a pair, whichever is the baseline', () => {
    const [one, other] = [between(FIVE, 'fastapi', 'gin'), between(FIVE, 'gin', 'fastapi')];
    expect(other.verdict).toBe('faster');
    expect(other.estimate).toBeCloseTo(-one.estimate!, 12);
    expect(other.ratio!.interval!.high).toBeCloseTo(1 / one.ratio!.interval!.low, 12);
  });

  it('compares within each round, so that a round that is slow for all does not matter', () => {
    expect(ranksOf({ a: [10, 20, 14], b: [11.4, 23, 16], c: [13, 26, 18.4] })).toEqual({ a: 1, b: 2, c: 3 });
  });

  it('lets targets share a rank if their order changes, or if they differ by less than the threshold', () => {
    expect(ranksOf({ a: [10, 11, 12], b: [11, 10.5, 12.5] })).toEqual({ a: 1, b: 1 });
    expect(ranksOf({ a: [10, 11, 12], b: [10.1, 11.11, 12.12] })).toEqual({ a: 1, b: 1 });
  });

  it('has no interval and no rank after one round', () => {
    const costs = { a: [10], b: [20] };
    expect(between(costs, 'b', 'a')).toMatchObject({ verdict: 'undecided', why: 'too-few-rounds' });
    expect(ranksOf(costs)).toEqual({});
  });

  it('does not rank a target of which a round failed, and ranks the others', () => {
    const costs = { ...FIVE, uvicorn: [60, undefined, 60.8] };
    expect(between(costs, 'uvicorn', 'gin')).toMatchObject({ verdict: 'undecided', why: 'unbounded' });
    expect(ranksOf(costs)).toEqual({ gin: 1, fastify: 2, litestar: 3, fastapi: 4 });
  });

  it('ranks targets behind one whose figures are only a bound, if even that is better', () => {
    const costs: Costs = { bound: [8, 8.1, 8], a: [10, 10.1, 10.2], b: [12, 12.2, 12.1] };
    const contested = contest(costs, (all, candidate, baseline) =>
      differencesOf(all, candidate, baseline).map(
        // The bound may be better still: then others differ from it by more.
        (one) => one && { ...one, high: baseline === 'bound' ? Infinity : one.high },
      ),
    );
    const ranks = rankTargets(Object.keys(costs), contested, RULES.threshold);
    expect(Object.fromEntries(ranks)).toEqual({ a: 2, b: 3 });
  });
});

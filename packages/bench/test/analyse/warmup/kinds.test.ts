import { describe, expect, it } from 'vitest';
import { compareKinds as compareFound } from '../../../src/analyse/warmup/compare-kinds.ts';
import { findKinds, groupings, type Figure } from '../../../src/analyse/warmup/kinds.ts';
import type { RatioEstimate } from '../../../src/analyse/warmup/study.ts';
import { sum } from '../../../src/numbers.ts';
import { createRandom, type Random } from '../../../src/random.ts';

const compareKinds = (baseline: RatioEstimate[], candidate: RatioEstimate[]) =>
  compareFound(
    { figures: baseline, found: findKinds(baseline) },
    { figures: candidate, found: findKinds(candidate) },
  );

const figures = (...ratios: number[]): RatioEstimate[] => ratios.map((ratio) => ({ ratio }));

/** Pairs of fresh processes as recorded: vanilla ÷ vanilla (p1) and fastify ÷ fastify (p2). */
const VANILLA = figures(
  1.0052,
  1.008,
  0.9927,
  0.9988,
  1.0114,
  1.015,
  1.0034,
  1.0441,
  0.9954,
  0.9859,
  0.9846,
  0.9987,
  0.9783,
  1.0147,
  1.0123,
  0.9766,
  1.0048,
  1.0021,
  1.0202,
  1.007,
  1.0086,
  1.0044,
  1.0013,
  0.9775,
);
const FASTIFY = figures(
  0.8037,
  1.2285,
  1.2018,
  1.213,
  0.83,
  0.8165,
  1.2326,
  1.005,
  0.8526,
  1.0126,
  1.2269,
  0.7739,
  1.188,
  0.8376,
  0.8183,
  1.0067,
  0.8166,
  0.8172,
  1.1787,
  1.1924,
  0.8432,
  1.2165,
  0.8019,
  1.2396,
);
/** Fastify against vanilla, after single requests and then load (h). */
const FASTIFY_VANILLA = figures(
  1.185,
  1.471,
  1.213,
  1.334,
  1.143,
  1.152,
  1.214,
  1.131,
  1.37,
  1.199,
  1.166,
  1.21,
);

const drawOne = (random: Random, level: number, deviation: number): RatioEstimate => ({
  ratio: level * Math.exp(deviation * random.normal()),
});

/** Student's t with 5 degrees of freedom, with a standard deviation of 1. */
const drawT5 = (random: Random): number => {
  let square = 0;
  for (let i = 0; i < 5; i++) square += random.normal() ** 2;
  return random.normal() / Math.sqrt(square / 3);
};

describe('recorded processes', () => {
  it('of vanilla form one kind, with a deviation of 1.5 %', () => {
    const { kinds, deviation } = findKinds(VANILLA);
    expect(kinds).toHaveLength(1);
    expect(kinds[0]?.share).toBe(1);
    expect(deviation).toBeCloseTo(0.015, 3);
  });

  it('of fastify against fastify form three kinds: cheap ÷ expensive, equal, expensive ÷ cheap', () => {
    const { kinds } = findKinds(FASTIFY);
    expect(kinds.map(({ processes }) => processes.length)).toEqual([11, 3, 10]);
    expect(kinds.map(({ centre }) => Number(centre.toFixed(2)))).toEqual([0.82, 1.01, 1.21]);
  });

  it('of fastify against vanilla form two kinds, and 25 % are expensive', () => {
    const { kinds } = findKinds(FASTIFY_VANILLA);
    expect(kinds.map(({ processes }) => processes)).toEqual([
      [0, 2, 4, 5, 6, 7, 9, 10, 11],
      [1, 3, 8],
    ]);
    expect(kinds[1]?.share).toBe(0.25);
    expect(kinds[1]?.shareInterval.low).toBeCloseTo(0.089, 3);
    expect(kinds[1]?.shareInterval.high).toBeCloseTo(0.532, 3);
  });
});

describe('processes of one kind', () => {
  it.each([5, 8, 12, 24])('%i of them are split in at most 5 % of studies', (count) => {
    const random = createRandom(5);
    for (const deviation of [0.01, 0.015, 0.02]) {
      let split = 0;
      for (let study = 0; study < 300; study++) {
        const drawn = Array.from({ length: count }, () => drawOne(random, 1, deviation));
        if (findKinds(drawn).kinds.length > 1) split++;
      }
      expect(split).toBeLessThanOrEqual(15);
    }
  });

  it('with tails of Student t₅ are split in at most 5 % of studies', () => {
    const random = createRandom(6);
    let split = 0;
    for (let study = 0; study < 300; study++) {
      const drawn = Array.from({ length: 12 }, () => ({ ratio: Math.exp(0.015 * drawT5(random)) }));
      if (findKinds(drawn).kinds.length > 1) split++;
    }
    expect(split).toBeLessThanOrEqual(15);
  });

  it('with noisy ratios are not split if their deviation is given', () => {
    const random = createRandom(9);
    for (const count of [5, 12, 24]) {
      let [split, naive] = [0, 0];
      for (let study = 0; study < 300; study++) {
        const drawn = Array.from({ length: count }, () => drawOne(random, 18, 0.05));
        if (findKinds(drawn, 0.05).kinds.length > 1) split++;
        if (findKinds(drawn).kinds.length > 1) naive++;
      }
      expect(split).toBeLessThanOrEqual(15);
      expect(naive).toBeGreaterThan(15);
    }
  });

  it('are not split by a process with an uncertain level', () => {
    const rest = figures(1, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998);
    expect(findKinds([...rest, { ratio: 1.12, interval: { low: 1.11, high: 1.13 } }]).kinds).toHaveLength(2);
    expect(findKinds([...rest, { ratio: 1.12, interval: { low: 0.95, high: 1.32 } }]).kinds).toHaveLength(1);
  });
});

describe('processes of two kinds', () => {
  it.each([
    [5, 0.2],
    [12, 0.2],
    [5, 0.12],
    [24, 0.08],
  ])('%i of them, %d apart, are found in at least 19 of 20 studies', (count, distance) => {
    const random = createRandom(7);
    let found = 0;
    for (let study = 0; study < 200; study++) {
      const drawn = Array.from({ length: count }, (_, at) =>
        drawOne(random, at % 5 < 2 ? 1 + distance : 1, 0.012),
      );
      if (findKinds(drawn).kinds.length === 2) found++;
    }
    expect(found).toBeGreaterThanOrEqual(190);
  });

  it('require at least one process, positive ratios and a positive deviation', () => {
    expect(() => findKinds([])).toThrow(RangeError);
    expect(() => findKinds(figures(1, 0))).toThrow(RangeError);
    expect(() => findKinds(figures(1), 0)).toThrow(RangeError);
  });
});

/** The least sum of squares of contiguous groups, by trying every cut. */
function leastSquares(sorted: readonly Figure[], groups: number): number {
  if (groups === 1) return squaresOf([sorted]);
  const cuts = sorted.slice(groups - 1).map((_, at) => at + groups - 1);
  return Math.min(
    ...cuts.map((cut) => leastSquares(sorted.slice(0, cut), groups - 1) + squaresOf([sorted.slice(cut)])),
  );
}

function squaresOf(groups: readonly (readonly Figure[])[]): number {
  return sum(
    groups.map((group) => {
      const centre =
        sum(group.map(({ log, weight }) => weight * log)) / sum(group.map(({ weight }) => weight));
      return sum(group.map(({ log, weight }) => weight * (log - centre) ** 2));
    }),
  );
}

describe('groups of figures', () => {
  it('have the least sum of squares of all cuts, also with ties and weights', () => {
    const random = createRandom(21);
    for (let sample = 0; sample < 60; sample++) {
      const grain = sample % 3 === 0 ? 20 : 1e6;
      const sorted = Array.from({ length: 4 + random.below(13) }, (_, index) => ({
        log: Math.round((3 + 0.3 * random.below(3) + 0.05 * random.normal()) * grain) / grain,
        weight: sample % 2 === 0 ? 1 : 0.1 + random.float(),
        index,
      })).toSorted((a, b) => a.log - b.log);
      const found = groupings(sorted, 4);
      expect(found.map((groups) => groups.length)).toEqual([1, 2, 3, 4]);
      for (const groups of found) {
        expect(groups.flat()).toEqual(sorted);
        expect(groups.every(({ length }) => length > 0)).toBe(true);
        expect(squaresOf(groups)).toBeCloseTo(leastSquares(sorted, groups.length), 10);
      }
    }
  });
});

describe('a comparison of kinds', () => {
  const cheap = [1.19, 1.2, 1.18, 1.21, 1.2];
  const dear = [1.43, 1.44, 1.42];

  it('gives the shift within kinds, the shares and the ratio of the means', () => {
    const baseline = figures(...cheap, ...dear);
    const candidate = figures(...[...cheap.slice(0, 2), ...dear, 1.43].map((one) => one * 0.97));
    const compared = compareKinds(baseline, candidate);
    expect(compared.kinds).toHaveLength(2);
    expect(compared.withinKinds?.ratio).toBeCloseTo(0.97, 2);
    expect(compared.withinKinds?.interval?.high).toBeLessThan(1);
    expect(compared.kinds[1]?.shareDifference).toBeCloseTo(4 / 6 - 3 / 8, 6);
    expect(compared.kinds[1]?.shareInterval.low).toBeLessThan(0);
    expect(compared.fleet.ratio).toBeGreaterThan(1);
    expect(compared.fleet.interval?.low).toBeLessThan(1);
  });

  it('matches the only kind of one target to the nearest of the other', () => {
    const { kinds, withinKinds } = compareKinds(figures(...cheap, ...dear), figures(...dear, 1.43));
    expect(kinds.map(({ baseline, candidate }) => [baseline, candidate])).toEqual([
      [0, undefined],
      [1, 0],
    ]);
    expect(kinds[0]?.ratio).toBeUndefined();
    expect(kinds[0]?.shareDifference).toBeCloseTo(-5 / 8, 6);
    expect(withinKinds?.ratio).toBeCloseTo(1, 2);
  });

  it('is reciprocal when the targets are exchanged', () => {
    const [one, other] = [figures(...cheap, ...dear), figures(...dear, 1.43)];
    const [forth, back] = [compareKinds(one, other), compareKinds(other, one)];
    expect(forth.withinKinds!.ratio * back.withinKinds!.ratio).toBeCloseTo(1, 10);
    expect(forth.fleet.ratio * back.fleet.ratio).toBeCloseTo(1, 10);
    expect(forth.kinds.map(({ shareDifference }) => shareDifference)).toEqual(
      back.kinds.map(({ shareDifference }) => -shareDifference),
    );
  });

  it('has no interval for one process per target', () => {
    const { withinKinds, fleet } = compareKinds(figures(1), figures(1.1));
    expect(withinKinds).toEqual({ ratio: expect.closeTo(1.1, 10) });
    expect(fleet.interval).toBeUndefined();
  });

  it('covers the true shift and the true ratio of means in at least 92 % of studies', () => {
    const random = createRandom(8);
    const covered = { shift: 0, fleet: 0 };
    const draw = (count: number, level: number, share: number): RatioEstimate[] =>
      Array.from({ length: count }, () =>
        drawOne(random, level * (random.float() < share ? 1.43 : 1.19), 0.015),
      );
    const truth = (0.97 * (0.5 * 1.43 + 0.5 * 1.19)) / (0.25 * 1.43 + 0.75 * 1.19);
    for (let study = 0; study < 100; study++) {
      const { withinKinds, fleet } = compareKinds(draw(12, 1, 0.25), draw(12, 0.97, 0.5));
      if (withinKinds!.interval!.low <= 0.97 && withinKinds!.interval!.high >= 0.97) covered.shift++;
      if (fleet.interval!.low <= truth && fleet.interval!.high >= truth) covered.fleet++;
    }
    expect(covered.shift).toBeGreaterThanOrEqual(92);
    expect(covered.fleet).toBeGreaterThanOrEqual(92);
  });
});

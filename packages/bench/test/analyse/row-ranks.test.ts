import { describe, expect, it } from 'vitest';
import { rankFigures } from '../../src/analyse/row-ranks.ts';
import type { Figure } from '../../src/analyse/summary.ts';
import type { Better } from '../../src/analyse/verdict.ts';
import { median } from '../../src/numbers.ts';
import { createRandom } from '../../src/random.ts';

const figureOf = (rounds: readonly number[], given: Partial<Figure> = {}): Figure => ({
  median: median(rounds),
  least: Math.min(...rounds),
  most: Math.max(...rounds),
  rounds: rounds.length,
  atLeast: false,
  valid: true,
  ...given,
});

/** Ranks rows by their figures in each round. */
function rank(rows: readonly (readonly number[])[], better: Better = 'lower', given: Partial<Figure>[] = []) {
  return rankFigures({
    figures: rows.map((rounds, index) => (rounds.length === 0 ? undefined : figureOf(rounds, given[index]))),
    better,
    threshold: 0.02,
    roundsOf: (row) => rows[row]!,
    differencesOf: (one, other) =>
      rows[one]!.map(
        (value, round) => Math.log(value / rows[other]![round]!) * (better === 'lower' ? 1 : -1),
      ),
  });
}

describe('rankFigures', () => {
  it('compares rows within each round, so that a round that is slow for all does not matter', () => {
    // The ranges of the rows overlap, but in each round the order is the same.
    const rows = [
      [10, 20, 14],
      [11.4, 23, 16],
      [13, 26, 18.4],
    ];
    expect(rank(rows)).toEqual([1, 2, 3]);
    expect(rank(rows, 'higher')).toEqual([3, 2, 1]);
  });

  it('lets rows share a rank if their order changes, or if they differ by less than the threshold', () => {
    expect(
      rank([
        [10, 11, 12],
        [11, 10.5, 12.5],
        [14, 15.5, 17],
      ]),
    ).toEqual([1, 1, 3]);
    expect(
      rank([
        [10, 11, 12],
        [10.1, 11.11, 12.12],
      ]),
    ).toEqual([1, 1]);
  });

  it('never contradicts the order of the medians, however much the spreads differ', () => {
    const rows = [
      [10, 10.1, 9.9],
      [20, 20.2, 19.9],
      // So far off and so restless that nothing is sure.
      [12, 80, 60],
      [70, 71, 69],
    ];
    expect(rank(rows)).toEqual([1, 2, 2, 4]);
  });

  it('gives no rank to figures that are missing, invalid, bounds, or of one round', () => {
    const rows = [[], [1, 2, 1], [3, 4, 3], [5], [7, 8, 7]];
    const given = [{}, { valid: false }, { atLeast: true }];
    expect(rank(rows, 'lower', given)).toEqual([undefined, undefined, undefined, undefined, 1]);
  });

  it('places figures below a lower bound that is higher than all of them, if higher is better', () => {
    const rows = [
      [90, 92, 95],
      [70, 75, 80],
      [80, 85, 93],
    ];
    expect(rank(rows, 'higher', [{ atLeast: true, valid: false }])).toEqual([undefined, 3, 1]);
    // As a latency, the bound can only be worse than it looks.
    expect(rank([rows[0]!, rows[1]!], 'lower', [{ atLeast: true }])).toEqual([undefined, 1]);
  });

  it('compares the means of rows that have no two rounds in common', () => {
    const rows = [
      [10, 11, NaN, NaN],
      [NaN, NaN, 80, 85],
      [NaN, NaN, 12, 11],
    ];
    const known = rows.map((row) => row.map((value) => (Number.isNaN(value) ? undefined : value)));
    const figures = rows.map((row) => figureOf(row.filter((value) => !Number.isNaN(value))));
    const differencesOf = (one: number, other: number) =>
      known[one]!.map((value, round) => {
        const against = known[other]![round];
        return value === undefined || against === undefined ? undefined : Math.log(value / against);
      });
    const contest = { figures, better: 'lower' as const, threshold: 0.02, differencesOf };
    expect(rankFigures({ ...contest, roundsOf: (row) => known[row]! })).toEqual([1, 3, 1]);
  });

  const TRIES = 1000;

  /** The share of tables in which two servers, of which one costs this much more, have different ranks. */
  function shareRanked(rounds: number, ratio: number, isHeavyTailed: boolean): number {
    const random = createRandom(rounds);
    const noise = (): number =>
      0.02 * (isHeavyTailed ? random.normal() / Math.max(0.3, random.float()) : random.normal());
    let ranked = 0;
    for (let round = 0; round < TRIES; round++) {
      const weather = Array.from({ length: rounds }, () => Math.exp(0.2 * random.normal()));
      const one = weather.map((pace) => 20 * pace * Math.exp(noise()));
      const other = weather.map((pace) => 20 * ratio * pace * Math.exp(noise()));
      const [first, second] = rank([one, other]);
      if (first !== second) ranked++;
    }
    return ranked / TRIES;
  }

  it.each([2, 3, 4, 6, 12])('rarely ranks two equal servers: %d rounds', (rounds) => {
    // 5 %, and four standard deviations of this many tries.
    for (const isHeavyTailed of [false, true])
      expect(shareRanked(rounds, 1, isHeavyTailed)).toBeLessThan(0.05 + 4 * Math.sqrt(0.05 / TRIES));
  });

  it('ranks servers that differ by 10 %, whatever the machine does to both', () => {
    expect(shareRanked(3, 1.1, false)).toBeGreaterThan(0.6);
    expect(shareRanked(6, 1.1, false)).toBeGreaterThan(0.95);
  });
});

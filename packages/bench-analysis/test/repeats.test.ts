import { describe, expect, it } from 'vitest';
import { compareRepeats, pairInTime } from '../src/runs.ts';
import { createRandom } from 'bench-statistics/random';

const RULES = { better: 'lower', threshold: 0.02 } as const;

/** Runs of the old plan (O) and the new one (N) in the order of time. */
const pairsOf = (order: string) => {
  const runs = order.split('').map((side, at) => ({ side, startedAt: String(at) }));
  const [old, now] = ['O', 'N'].map((side) => runs.filter((run) => run.side === side));
  return pairInTime(old!, now!).map((pair) => `${pair.old.startedAt}-${pair.new.startedAt}`);
};

describe('repeats of two plans', () => {
  it.each([
    ['ONONON', ['0-1', '2-3', '4-5']],
    ['ONNOON', ['0-1', '3-2', '4-5']],
    ['OOONNN', ['2-3']],
    ['OOO', []],
  ])('are paired with their neighbours in time: %s', (order, pairs) => {
    expect(pairsOf(order)).toEqual(pairs);
  });

  it('have the interval of Student from three pairs on', () => {
    const [few, enough] = compareRepeats(
      [
        [0.1, 0.2],
        [0.1, 0.2, 0.3],
      ],
      RULES,
    );
    expect(few).toBeUndefined();
    // 0.2 ± 6.205 × 0.1 ÷ √3: each of two rows has 2.5 % of the error.
    expect(enough?.ratio.interval.low).toBeCloseTo(Math.exp(0.2 - 0.3583), 3);
    expect(enough?.ratio.interval.high).toBeCloseTo(Math.exp(0.2 + 0.3583), 3);
    expect(enough).toMatchObject({ pairs: 3, verdict: 'undecided' });
  });

  it('find a difference that is larger than the noise between runs', () => {
    const [slower] = compareRepeats([[0.1, 0.11, 0.12, 0.1]], RULES);
    expect(slower?.verdict).toBe('slower');
  });

  it('call equal programs different in about 5 % of tables', () => {
    const random = createRandom(2);
    const wrong = Array.from({ length: 4000 }, () => {
      const differences = Array.from({ length: 4 }, () => 0.05 * random.normal());
      return compareRepeats([differences], { ...RULES, threshold: 1e-9 })[0]?.verdict;
    }).filter((verdict) => verdict !== 'undecided');
    expect(wrong.length / 4000).toBeGreaterThan(0.04);
    expect(wrong.length / 4000).toBeLessThan(0.06);
  });
});

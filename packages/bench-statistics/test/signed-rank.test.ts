import { describe, expect, it } from 'vitest';
import * as ranks from '../src/signed-rank.ts';
import { createRandom } from '../src/random.ts';
import { known, roundTo } from '../../bench-analysis/test/known.ts';

const { errorOfTrim, estimateCentre, signedRankTail, trimFor, trimmedInterval, walshAverages } = ranks;

/**
 * The smallest error at which the interval of these Walsh averages excludes 0: the two-sided exact p value. Averages of
 * exactly 0, from zeros and ties, count against both sides, which is conservative.
 */
function signedRankP(averages: Float64Array): number {
  const n = Math.round((Math.sqrt(8 * averages.length + 1) - 1) / 2);
  const [notAbove, notBelow] = [averages.filter((one) => one <= 0), averages.filter((one) => one >= 0)];
  return errorOfTrim(n, Math.min(notAbove.length, notBelow.length));
}

describe('the results agree with scipy', () => {
  it.each(known.signedRankErrors)('for 2 P(T ≤ k) at every k, n = $n', ({ n, errors }) => {
    expect(errors.map((_, k) => roundTo(errorOfTrim(n, k)))).toEqual(errors.map((error) => roundTo(error)));
  });

  it.each(known.signedRank)('for $differences.length differences at alpha = $alpha', (sample) => {
    const { differences, alpha } = sample;
    const averages = walshAverages(differences);
    expect(roundTo(estimateCentre(differences))).toBe(roundTo(sample.estimate));
    expect(roundTo(signedRankP(averages))).toBe(roundTo(sample.p));

    const k = trimFor(differences.length, alpha);
    const interval = k === undefined ? null : trimmedInterval(differences, k);
    expect(interval && [roundTo(interval.low), roundTo(interval.high)]).toEqual(
      sample.interval?.map((end) => roundTo(end)) ?? null,
    );
  });
});

describe('trimFor', () => {
  it('allows 95 % confidence from 6 differences on', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => trimFor(n, 0.05))).toEqual(
      [-1, -1, -1, -1, -1, 0, 2, 3, 5, 8].map((k) => (k < 0 ? undefined : k)),
    );
    expect(trimFor(0, 0.05)).toBeUndefined();
  });

  it('returns the largest k whose error is within the level, and inverts errorOfTrim', () => {
    for (let n = 6; n <= 40; n++) {
      for (const alpha of [0.05, 0.05 / 2, 0.05 / 3, 0.05 / 7, 0.001]) {
        const k = trimFor(n, alpha) ?? -1;
        expect(k < 0 ? 0 : errorOfTrim(n, k)).toBeLessThanOrEqual(alpha);
        expect(errorOfTrim(n, k + 1)).toBeGreaterThan(alpha);
      }
      for (let k = 0; k < (n * (n + 1)) / 4 - 1; k++) expect(trimFor(n, errorOfTrim(n, k))).toBe(k);
    }
  });

  it('needs more differences for a lower error', () => {
    expect(trimFor(8, 0.05 / 10)).toBeUndefined();
    expect(trimFor(9, 0.05 / 10)).toBe(0);
  });
});

describe('signedRankTail', () => {
  it('counts subsets of ranks', () => {
    expect([...signedRankTail(3)]).toEqual([1, 2, 3, 5, 6, 7, 8].map((count) => count / 8));
    expect([...signedRankTail(0)]).toEqual([1]);
  });

  it('rejects a sample size that is negative or not an integer', () => {
    expect(() => signedRankTail(-1)).toThrow(RangeError);
    expect(() => signedRankTail(2.5)).toThrow(RangeError);
  });
});

describe('test and interval', () => {
  it('never contradict each other, even with ties and zeros', () => {
    const random = createRandom(8);
    for (let sample = 0; sample < 3000; sample++) {
      const n = 6 + random.below(15);
      const grain = sample % 3 === 0 ? 0 : 2;
      const differences = Array.from({ length: n }, () => {
        const difference = random.normal() + 0.4;
        return grain ? Math.round(difference * grain) / grain : difference;
      });
      const averages = walshAverages(differences);
      const alpha = [0.05, 0.01, 0.03][sample % 3]!;
      const k = trimFor(n, alpha);
      if (k === undefined) continue;
      const { low, high } = trimmedInterval(differences, k);
      expect(low > 0 || high < 0).toBe(signedRankP(averages) <= alpha);
    }
  });

  it('find no significance in zero differences', () => {
    expect(signedRankP(walshAverages([0, 0, 0, 0, 0, 0, 0, 0]))).toBe(1);
  });

  it('reject a trim that leaves no averages', () => {
    for (const [differences, k] of [[[1, 2], 2] as const, [[], 0] as const])
      expect(() => trimmedInterval(differences, k)).toThrow(RangeError);
    expect(() => estimateCentre([])).toThrow(RangeError);
  });
});

import { describe, expect, it } from 'vitest';
import { exactly } from 'bench-analysis/differences';
import { studentPoint } from '../src/student.ts';
import { locateTogether, type Pair } from '../src/two-way.ts';

/** All pairs of targets, from the log figure of each in each round. */
function pairsOf(logs: Record<string, readonly (number | undefined)[]>): Pair[] {
  const names = Object.keys(logs);
  return names.flatMap((baseline, index) =>
    names.slice(index + 1).map((candidate) => ({
      candidate,
      baseline,
      differences: exactly(
        logs[candidate]!.map((value, round) => {
          const other = logs[baseline]![round];
          return value === undefined || other === undefined ? undefined : value - other;
        }),
      ),
    })),
  );
}

const shapesOf = (pairs: readonly Pair[], error = 0.05) =>
  locateTogether(pairs, error).map((located) => {
    const { low, high } = located!.interval!;
    return { centre: located!.centre, half: (high - low) / 2 };
  });

describe('locateTogether', () => {
  it("is Student's interval for one pair", () => {
    const [shape] = shapesOf(pairsOf({ a: [0, 0, 0], b: [0.1, 0.2, 0.3] }));
    expect(shape!.centre).toBeCloseTo(0.2, 12);
    // A deviation of 0.1 over three rounds; t of two degrees of freedom is 4.303.
    expect(shape!.half).toBeCloseTo((4.3027 * 0.1) / Math.sqrt(3), 4);
  });

  it('pools the residuals of the layout of targets and rounds', () => {
    // Residuals of ±0.01 in every cell, on any level of a target or of a round.
    const logs = {
      a: [0.01, -0.01, 0.01, -0.01].map((value, round) => value + round),
      b: [-0.01, 0.01, 0.01, -0.01].map((value, round) => value + round + 5),
      c: [0, 0, -0.02, 0.02].map((value, round) => value + round + 7),
    };
    const squares = 4 * 0.01 ** 2 + 4 * 0.01 ** 2 + 2 * 0.02 ** 2;
    const deviation = Math.sqrt((2 * squares) / 6);
    const [first] = shapesOf(pairsOf(logs));
    const least = (studentPoint(6, 0.05) * deviation) / 2;
    expect(first!.centre).toBeCloseTo(5, 12);
    expect(first!.half).toBeGreaterThanOrEqual(least * (1 - 1e-12));
  });

  it('widens the interval of a pair that is noisier than the others', () => {
    const quiet = { a: [0, 0.01, 0], b: [0.01, 0, 0], c: [0, 0, 0.01] };
    const shapes = shapesOf(pairsOf({ ...quiet, noisy: [0, 0.5, 1] }));
    expect(shapes[2]!.half).toBeGreaterThan(2 * shapes[0]!.half);
  });

  it('covers the bounds of a difference, and has no end without one', () => {
    const exact = pairsOf({ a: [0, 0, 0], b: [0.1, 0.11, 0.12] });
    const [{ differences, ...pair }] = exact as [Pair];
    const bounded = (low: number, high: number) =>
      locateTogether(
        [{ ...pair, differences: [{ value: 0.1, low, high }, ...differences.slice(1)] }],
        0.05,
      )[0]!.interval!;
    const known = locateTogether(exact, 0.05)[0]!.interval!;
    expect(bounded(-0.1, 0.1).low).toBeLessThan(known.low - 0.2 / 3);
    expect(bounded(-0.1, 0.1).high).toBeGreaterThanOrEqual(known.high);
    expect(bounded(-Infinity, 0.1)).toEqual({ low: -Infinity, high: known.high });
  });

  it('locates nothing in one round, and nothing whose rounds all failed', () => {
    expect(locateTogether(pairsOf({ a: [1], b: [2] }), 0.05)).toEqual([undefined]);
    const some = pairsOf({ a: [1, 2, 3], b: [2, 3, 4.1], gone: [undefined, undefined, undefined] });
    expect(locateTogether(some, 0.05).map((located) => located !== undefined)).toEqual([true, false, false]);
  });
});

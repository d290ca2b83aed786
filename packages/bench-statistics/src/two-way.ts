/**
 * Intervals for the differences of targets from rounds that are too few for exact ones: the two-way layout of targets and
 * rounds, whose residual variance all pairs share (Scheffé 1959, "The Analysis of Variance", 4.2).
 */
import { mean, squaresOf, sum } from './numbers.ts';
import type { Interval } from 'bench-model/interval';
import type { Located } from './signed-rank.ts';
import { studentPoint } from './student.ts';

/** The difference of one round. The true one lies between `low` and `high`; both equal the value if both figures are valid. */
export interface Difference extends Interval {
  value: number;
  /** The figures whose log ratio is the value, the worse one above; absent if only their ratio is known. */
  pair?: readonly [number, number];
}

/** The difference of each round, in order; undefined if nothing is known of it: it then lies anywhere. */
export type Differences = readonly (Difference | undefined)[];

/** Two targets and their difference in each round. */
export interface Pair {
  candidate: string;
  baseline: string;
  differences: Differences;
}

/**
 * One round shows no spread, and two agree by chance too often: processes with two paces are at the same one in half of all
 * pairs of rounds.
 */
export const FEWEST_WITH_SPREAD = 3;

/**
 * The error of the interval of a pair by its own deviation alone. The pooled one is too small for a pair that is noisier
 * than the others. At 5 %, such pairs cause too many false ranks; at much less, three rounds find nothing.
 */
const OWN_ERROR = 0.04;

/**
 * Locates the difference of each pair, with an interval of this two-sided error: Student's, with the degrees of freedom of
 * the layout and the larger of two deviations, that of all pairs and that of the pair. It is at least as wide as the
 * pair's own interval at 4 %, or at `error` if that is more. Where differences have bounds, it begins below the mean of
 * the lower ones and ends above that of the upper ones, so it has no end where one has no bound. Undefined below `FEWEST_WITH_SPREAD` rounds.
 */
export function locateTogether(pairs: readonly Pair[], error: number): (Located | undefined)[] {
  const spreads = pairs.map(({ differences }) => spreadOf(differences));
  const freedom = sum(spreads.map((spread) => spread.freedom));
  if (freedom === 0) return pairs.map(() => undefined);
  const pooled = Math.sqrt(sum(spreads.map(({ ofValues }) => ofValues)) / freedom);
  const point = studentPoint(freedomOf(pairs), error);
  return pairs.map(({ differences }, index) => {
    const { squares, freedom: own } = spreads[index] as Spread;
    if (own === 0) return undefined;
    const deviation = Math.sqrt(squares / own);
    const half = Math.max(
      point * Math.max(pooled, deviation),
      studentPoint(own, Math.max(error, OWN_ERROR)) * deviation,
    );
    const margin = half / Math.sqrt(own + 1);
    return {
      centre: mean(differences.flatMap((difference) => difference?.value ?? [])),
      interval: {
        low: mean(differences.map((difference) => difference?.low ?? -Infinity)) - margin,
        high: mean(differences.map((difference) => difference?.high ?? Infinity)) + margin,
      },
    };
  });
}

/** The squared deviations of the rounds of a pair from their mean, and their degrees of freedom. */
interface Spread {
  /** Of the values: a doubt about one pair is no noise of another. */
  ofValues: number;
  /** The largest of the values, of the lower bounds and of the upper ones, as far as these are finite. */
  squares: number;
  freedom: number;
}

function spreadOf(differences: Differences): Spread {
  const known = differences.filter((difference) => difference !== undefined);
  if (known.length < FEWEST_WITH_SPREAD) return { ofValues: 0, squares: 0, freedom: 0 };
  const [ofValues, ...ofEnds] = (['value', 'low', 'high'] as const).map((end) =>
    squaresOf(known.map((difference) => difference[end])),
  ) as [number, number, number];
  return {
    ofValues,
    squares: Math.max(ofValues, ...ofEnds.filter(Number.isFinite)),
    freedom: known.length - 1,
  };
}

/** The degrees of freedom of the residuals: (targets − 1)(rounds − 1), less one for each figure that is missing. */
function freedomOf(pairs: readonly Pair[]): number {
  const known = pairs.flatMap(({ candidate, baseline, differences }) =>
    differences.flatMap((one, round) =>
      one ? [candidate, baseline].map((target) => ({ round, target })) : [],
    ),
  );
  const count = (of: (cell: (typeof known)[number]) => unknown): number => new Set(known.map(of)).size;
  const cells = count(({ round, target }) => `${round} ${target}`);
  return Math.max(1, cells - count(({ target }) => target) - count(({ round }) => round) + 1);
}

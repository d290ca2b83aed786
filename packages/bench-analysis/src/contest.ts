/**
 * The one comparison of the targets of a run by a metric. Verdicts, ranks, sentences and pictures all come from it. Which
 * pairs share its 5 % is known before the data: in a run of fixed rounds, all pairs of targets at a rung, with all requests
 * that are measured there; in a sequential test, each target with its baseline at every place.
 */
import { type Comparison, reverseComparison, type Rules } from './comparison.ts';
import { isBounded } from './differences.ts';
import { ERROR_BUDGET, levelOf, lookAt } from './looks.ts';
import { concludeSample, locatePairs, locateTable, type PairedRules, type Sample } from './paired.ts';
import type { Located } from 'bench-statistics/signed-rank';
import type { Pair, Differences } from 'bench-statistics/two-way';
import { isSamePlace, placeOf, type Place } from 'bench-model/planned';
import { thetaOf } from './verdict.ts';

/** Two targets at a place. */
export interface Contestants extends Place {
  candidate: string;
  baseline: string;
}

/** Two targets at a place, and what the rounds say of them. */
export interface Contested extends Contestants {
  comparison: Comparison;
  /** With the ends of the interval as they are: infinite where nothing bounds it. */
  located?: Located | undefined;
}

/** The rules of a contest, and the part of the error that its metric may spend; all if absent. */
type ContestRules = PairedRules & { part?: number };

/** Measures the differences of two targets at a place in each round. */
type Measure = (pair: Contestants) => Differences;

/** Compares all pairs of targets at every place. Throws RangeError unless the threshold is above 0. */
export function contestAll(
  targets: readonly string[],
  places: readonly Place[],
  measure: Measure,
  { schedule, part = 1, ...rules }: ContestRules,
): Contested[] {
  const pairs = targets.flatMap((baseline, index) =>
    targets.slice(index + 1).map((candidate) => ({ candidate, baseline })),
  );
  const routes = new Set(places.map(({ route }) => route)).size;
  const shares = Math.max(1, pairs.length * routes) / part;
  return places.flatMap((place) => {
    const measured = pairs.map((pair): Pair => ({ ...pair, differences: measure({ ...pair, ...place }) }));
    const look = lookAt(schedule, Math.max(0, ...measured.map(({ differences }) => differences.length)));
    const error = look === undefined ? 0 : levelOf(look, schedule, shares);
    const samples = locatePairs(measured, error > 0 ? error : ERROR_BUDGET / shares);
    return samples.map((sample, index) => concludeOn({ ...pairs[index]!, ...place }, sample, shares, rules));
  });
}

/** Compares these pairs of targets at the last look that they have reached. Throws RangeError unless the threshold is above 0. */
export function contestPairs(
  pairs: readonly Contestants[],
  measure: Measure,
  { part = 1, ...rules }: ContestRules,
): Contested[] {
  const shares = pairs.length / part;
  const samples = locateTable(pairs.map(measure), rules.schedule, { shares });
  return samples.map((sample, index) => concludeOn(pairs[index]!, sample, shares, rules));
}

function concludeOn(pair: Contestants, sample: Sample, shares: number, rules: Rules): Contested {
  return { ...pair, comparison: concludeSample(sample, shares, rules), located: sample.located };
}

/**
 * Ranks targets of one place: 1 + the number of them that are better. A target is better than another if their interval
 * lies entirely below 0, or their intervals against one baseline lie apart, and the estimates differ by at least the
 * threshold. Targets that are not distinguished from any better one share a rank. A target has no rank if its interval with every
 * other is missing or open at one end.
 */
export function rankTargets(
  targets: readonly string[],
  contested: readonly Contested[],
  threshold: number,
): Map<string, number> {
  const theta = thetaOf(threshold);
  const known = new Map(
    contested.flatMap(({ candidate, baseline, located }): [string, Located][] =>
      located === undefined
        ? []
        : [
            [keyOf(candidate, baseline), located],
            [keyOf(baseline, candidate), reverse(located)],
          ],
    ),
  );
  const between = (one: string, other: string): Located | undefined => known.get(keyOf(one, other));
  const isBetter = (one: string, other: string): boolean => {
    const direct = between(one, other);
    if (direct !== undefined) return isBelow(direct, ORIGIN, theta);
    return targets.some((baseline) => {
      const [ours, theirs] = [between(one, baseline), between(other, baseline)];
      return ours !== undefined && theirs !== undefined && isBelow(ours, theirs, theta);
    });
  };
  const isRanked = (target: string): boolean =>
    targets.some((other) => isBounded(between(target, other)?.interval ?? ANYWHERE));
  return new Map(
    targets
      .filter(isRanked)
      .map((target) => [target, 1 + targets.filter((other) => isBetter(other, target)).length]),
  );
}

/** Returns the result for two targets in this order; undefined if they were not compared. */
export function contestedOf(contested: readonly Contested[], pair: Contestants): Contested | undefined {
  const { candidate, baseline } = pair;
  const here = contested.filter((one) => isSamePlace(one, pair));
  const found = here.find((one) => one.candidate === candidate && one.baseline === baseline);
  const turned = here.find((one) => one.candidate === baseline && one.baseline === candidate);
  if (found !== undefined || turned === undefined) return found;
  const { comparison, located } = turned;
  return {
    ...placeOf(pair),
    candidate,
    baseline,
    comparison: reverseComparison(comparison),
    located: located && reverse(located),
  };
}

const ANYWHERE = { low: -Infinity, high: Infinity };
const ORIGIN: Located = { centre: 0, interval: { low: 0, high: 0 } };

function isBelow(one: Located, other: Located, theta: number): boolean {
  const { high } = one.interval ?? ANYWHERE;
  const { low } = other.interval ?? ANYWHERE;
  return high < low && other.centre - one.centre >= theta;
}

function reverse({ centre, interval }: Located): Located {
  return { centre: -centre, ...(interval && { interval: { low: -interval.high, high: -interval.low } }) };
}

function keyOf(candidate: string, baseline: string): string {
  return `${candidate} ${baseline}`;
}

/**
 * The one comparison of the targets of a run by a metric. Verdicts, ranks, sentences and pictures all come from it. Which
 * pairs share its 5 % is known before the data: in a run of fixed rounds, all pairs of targets at a rung, with all requests
 * that are measured there; in a sequential test, each target with its baseline at every place.
 */
import { isBounded } from './differences.ts';
import type { ComparedPair } from './paired.ts';
import type { Located } from 'bench-statistics/signed-rank';
import type { Place } from 'bench-model/planned';
import { thetaOf } from './verdict.ts';

/** Two targets at a place. */
export interface Contestants extends Place {
  candidate: string;
  baseline: string;
}

/** Two targets at a place, and what the rounds say of them. */
export type Contested = Contestants & ComparedPair;

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
    contested.map(({ candidate, baseline, located }) => [keyOf(candidate, baseline), located]),
  );
  const between = (one: string, other: string): Located | undefined => {
    const back = known.get(keyOf(other, one));
    return one === other ? ORIGIN : (known.get(keyOf(one, other)) ?? (back && reverse(back)));
  };
  const isBetter = (one: string, other: string): boolean => {
    const baselines = between(one, other) === undefined ? targets : [other];
    return baselines.some((baseline) => {
      const [ours, theirs] = [between(one, baseline), between(other, baseline)];
      return ours !== undefined && theirs !== undefined && isBelow(ours, theirs, theta);
    });
  };
  const isRanked = (target: string): boolean =>
    targets.some((other) => other !== target && isBounded(between(target, other)?.interval ?? ANYWHERE));
  return new Map(
    targets
      .filter(isRanked)
      .map((target) => [target, 1 + targets.filter((other) => isBetter(other, target)).length]),
  );
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

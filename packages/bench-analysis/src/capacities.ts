/** The capacities of two targets, by one slope of their slow answers. */
import type { FoundCapacity, Step } from 'bench-model/measured';
import { METRICS } from 'bench-model/metrics';
import { allowedShare, type Promised } from 'bench-model/promise';
import type { Trial } from 'bench-model/record';
import { FULL } from 'bench-model/saturation';
import { mean, median } from 'bench-statistics/numbers';
import { learnGrowth, locateThreshold, type Shares } from 'bench-statistics/threshold';
import { figureOf } from './metrics.ts';

/** Returns the requests of a step that kept or broke the promise. */
export function toShares({
  perSecond,
  requests,
  brokenShare,
}: Pick<Step, 'perSecond' | 'requests' | 'brokenShare'>): Shares {
  return { perSecond, requests, counted: requests * brokenShare };
}

/** Returns the function that gives the share of requests which may break a promise. */
export function levelOf(promise: Promised): (one: Pick<Shares, 'requests'>) => number {
  return ({ requests }) => allowedShare(promise, requests);
}

/**
 * Returns the capacities of the trials of two targets, by the slope that all their steps tell together. A slope that each
 * trial tells for itself is most of the noise of a ratio, and none of it is a difference between servers that are alike. Empty if
 * different promises decided.
 */
export function capacitiesByOneSlope(
  targets: readonly (readonly (Trial | undefined)[])[],
): ReadonlyMap<Trial, number> {
  const found = targets.flatMap((trials) => {
    const own = trials.flatMap((trial) => {
      const capacity = capacityOf(trial);
      return trial === undefined || capacity === undefined ? [] : [{ trial, capacity }];
    });
    const usual = own.length === 0 ? 1 : median(own.map(({ capacity }) => capacity.perSecond));
    return own.map((one) => ({ ...one, usual, shares: relativeTo(one.capacity, usual) }));
  });
  const [first] = found;
  if (first === undefined) return new Map();
  const { by } = first.capacity;
  if (found.some(({ capacity }) => capacity.by.of !== by.of)) return new Map();
  const known = { start: 1, pace: mean(found.map(({ capacity, usual }) => capacity.pacePerSecond / usual)) };
  const level = levelOf(by);
  const all = found.flatMap(({ shares }) => shares);
  const growth = learnGrowth(all, level, known);
  const { slope } = locateThreshold(all, level, { ...known, growth });
  const alike = { ...known, growth: { ...growth, dispersion: 1 }, slope };
  return new Map(
    found.map(({ trial, shares, usual }) => [trial, usual * locateThreshold(shares, level, alike).perSecond]),
  );
}

/** Returns the capacity of a trial if it was found, and nothing invalidates it. */
function capacityOf(trial: Trial | undefined): FoundCapacity | undefined {
  if (trial === undefined || trial.status === 'failed') return undefined;
  const { capacity } = trial.measured;
  return capacity?.bound === undefined && figureOf(trial, METRICS.capacity)?.valid === true
    ? capacity
    : undefined;
}

/** Returns the steps that the load generator did not limit, at their rates relative to the usual capacity. */
function relativeTo({ steps }: FoundCapacity, usual: number): Shares[] {
  return steps
    .filter(({ generatorBusy }) => generatorBusy <= FULL)
    .map((step) => toShares({ ...step, perSecond: step.perSecond / usual }));
}

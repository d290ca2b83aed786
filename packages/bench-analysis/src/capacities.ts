/** The capacities of two targets, by one slope of their slow answers. */
import type { FoundCapacity, Step } from 'bench-model/measured';
import { allowedShare, type Promised } from 'bench-model/promise';
import type { Trial } from 'bench-model/record';
import { FULL } from 'bench-model/saturation';
import { answersFor } from 'bench-statistics/histogram';
import { mean, median, sum } from 'bench-statistics/numbers';
import { learnGrowth, locateThreshold, type Shares } from 'bench-statistics/threshold';
import { type BoundedFigure, exact } from './metrics.ts';

/** Steps that are this close to a capacity, in log rate, tell of it. */
export const NEAR = 0.2;
/**
 * With few answers near it, a capacity is known within this many standard deviations of its logarithm, and not at all
 * if one of them is more than LARGE.
 */
const SURE = 3;
const LARGE = 0.15;

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

/** The answers that a promise needs: ten beyond its percentile. */
export function neededFor(promise: Promised): number {
  return promise.of === 'errors' ? 10 / (promise.belowShare ?? 1) : (answersFor(promise.of) ?? 1000);
}

/** Counts the answers of the steps near a capacity. */
export function answersNear(shares: readonly Shares[], capacity: number): number {
  const near = shares.filter(({ perSecond }) => Math.abs(Math.log(perSecond / capacity)) < NEAR);
  return sum(near.map(({ requests }) => requests));
}

/**
 * Returns the capacities of the trials of two targets, by the slope that all their steps tell together. A slope that each
 * trial tells for itself is most of the noise of a ratio, none of it is a difference between servers that are alike, and where it
 * is nearly flat by chance, the trial has too few answers near its own estimate. With too few near that of the one slope, a capacity
 * has the bounds that its likelihood gives. Empty if different promises decided.
 */
export function capacitiesByOneSlope(
  targets: readonly (readonly (Trial | undefined)[])[],
): ReadonlyMap<Trial, BoundedFigure> {
  const found = targets.flatMap((trials) => {
    const own = trials.flatMap((trial) => {
      const capacity = trial && capacityOf(trial);
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
  const locate = (shares: readonly Shares[], dispersion: number) =>
    locateThreshold(shares, level, { ...known, growth: { ...growth, dispersion }, slope });
  return new Map(
    found.flatMap(({ trial, shares, usual }) => {
      const { perSecond } = locate(shares, 1);
      const value = usual * perSecond;
      if (answersNear(shares, perSecond) >= neededFor(by)) return [[trial, exact(value)]];
      const { deviation } = locate(shares, growth.dispersion);
      const times = Math.exp(SURE * deviation);
      return deviation > LARGE ? [] : [[trial, { value, low: value / times, high: value * times }]];
    }),
  );
}

/** Returns the capacity of a trial if it was found, and nothing invalidates it but the answers near the estimate of the trial alone. */
function capacityOf(trial: Trial): FoundCapacity | undefined {
  if (trial.status === 'failed' || trial.measured.capacity?.bound !== undefined) return undefined;
  const isDoubted = trial.reasons.some(
    ({ code, invalidates }) => code !== 'few-answers' && invalidates.includes('capacity'),
  );
  return isDoubted ? undefined : trial.measured.capacity;
}

/** Returns the steps that the load generator did not limit, at their rates relative to the usual capacity. */
function relativeTo({ steps }: FoundCapacity, usual: number): Shares[] {
  return steps
    .filter(({ generatorBusy }) => generatorBusy <= FULL)
    .map((step) => toShares({ ...step, perSecond: step.perSecond / usual }));
}

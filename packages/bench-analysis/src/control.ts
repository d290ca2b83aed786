/**
 * Reads back the control of a run until decided: the known cost that was planted into turns of a baseline. A measurement that
 * misses it is blind, and what it says of cost counts for nothing.
 */
import type { Control } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { measuredOf } from 'bench-model/trial';
import { mean } from 'bench-statistics/numbers';
import { type Located, trimFor } from 'bench-statistics/signed-rank';
import type { Comparison, ControlReading } from './comparison.ts';
import { exactly, isBounded, locateEarly, locateWithin } from './differences.ts';
import { ERROR_BUDGET } from './looks.ts';

/** The share of runs that are called blind although they read what is planted. */
const BLIND_ERROR = 0.005;
/** The parts of the planted cost by which a reading may always be too low or too high: a helper disturbs the caches of its server. */
const MARGIN = { below: 0.25, above: 1 };
/** The least deviation between rounds, as a log ratio: a few of them can agree by chance. */
const LEAST_DEVIATION = 0.001;

/**
 * Reads the control of these trials. The whole of it may be missed, or the half between the turns, which varies less: each gets
 * half of the error. `controls` are those of the run, which share it. Undefined if nothing was planted.
 */
export function readControl(
  trials: readonly (Trial | undefined)[],
  controls: number,
): ControlReading | undefined {
  const found = trials.flatMap((trial) => (trial && measuredOf(trial)?.control) ?? []);
  if (found.length === 0) return undefined;
  const planted = mean(found.map((one) => Math.log1p(burntShare(one, 'turns') + burntShare(one, 'between'))));
  const missed = found.map(missedInAll);
  const error = BLIND_ERROR / (2 * controls);
  const { centre, interval } = locate(missed, ERROR_BUDGET);
  const between = mean(found.map((one) => burntShare(one, 'between')));
  return {
    planted: Math.exp(planted),
    read: Math.exp(planted + centre),
    ...(interval && {
      interval: { low: Math.exp(planted + interval.low), high: Math.exp(planted + interval.high) },
    }),
    isBlind:
      misses(locate(missed, error), planted) || misses(locate(found.map(missedBetween), error), between),
  };
}

function plainUs({ turns, between }: Control): number {
  return turns.plainUs + between.plainUs;
}

function burntShare(control: Control, part: keyof Control): number {
  return control[part].burntUs / plainUs(control);
}

/** The log ratio of what was read to what should have been. */
function missedInAll(control: Control): number {
  const { turns, between } = control;
  const rightUs = plainUs(control) + turns.burntUs + between.burntUs;
  return Math.log(Math.max(0, turns.plantedUs + between.plantedUs) / rightUs);
}

function missedBetween(control: Control): number {
  const { plainUs: without, plantedUs, burntUs } = control.between;
  return (plantedUs - without - burntUs) / plainUs(control);
}

function locate(values: readonly number[], error: number): Located {
  const differences = exactly(values);
  const early =
    trimFor(values.length, error) === undefined
      ? locateEarly(differences, error, LEAST_DEVIATION)
      : undefined;
  return early ?? locateWithin(differences, error);
}

/** Returns true if a whole interval of what was read too much lies beyond the margins of what was planted. */
function misses({ interval }: Located, planted: number): boolean {
  if (interval === undefined || !isBounded(interval)) return false;
  return interval.high < -MARGIN.below * planted || interval.low > MARGIN.above * planted;
}

/** Returns true if the cost of a comparison counts for nothing. */
export function isBlind({ control }: Comparison): boolean {
  return control?.isBlind === true;
}

/** Adds the reading of its control to a comparison by cost. A blind one has no verdict, and no interval that holds. */
export function withControl(cost: Comparison, control: ControlReading | undefined): Comparison {
  if (control === undefined) return cost;
  if (!control.isBlind) return { ...cost, control };
  const { interval: _, mean: _mean, dear: _dear, ratio, ...rest } = cost;
  return {
    ...rest,
    verdict: 'undecided',
    byMoreThanThreshold: false,
    why: 'blind',
    control,
    ...(ratio && { ratio: { estimate: ratio.estimate, range: ratio.range } }),
  };
}

/**
 * The error that looks at one comparison spend together, and the level of a look at any number of rounds that spends up
 * to a limit (Lan & DeMets 1983). Signed-rank sums are taken for normal: their score is a Brownian motion in the rounds.
 */
import { upperPoint, upperTail } from './normal.ts';
import { bisect } from './numbers.ts';

/** A look at `rounds` rounds whose interval alone misses with probability `level`, both sides together. */
export interface Spent {
  rounds: number;
  level: number;
}

/** The score of a comparison that no look so far has decided: its density at evenly spaced values from -bound to bound. */
interface Undecided {
  rounds: number;
  bound: number;
  density: Float64Array;
}

/** Simpson's rule needs an even number. Twice as many change a level by less than 1 in 10,000. */
const STEPS = 240;

/** Returns the probability that the interval of at least one of the looks misses (Armitage, McPherson & Rowe 1969). */
export function spentBy(looks: readonly Spent[]): number {
  return walk(looks).spent;
}

/**
 * Returns the level of a further look at which all looks together spend `limit`; 0 if the looks before it have spent that.
 * Throws RangeError unless its rounds are later than theirs.
 */
export function levelWithin(limit: number, before: readonly Spent[], rounds: number): number {
  const { spent, last } = walk(before);
  const free = limit - spent;
  if (free <= 0) return 0;
  if (last === undefined) return free;
  return bisect(0, 1, (level) => crossAt(last, rounds, boundOf({ rounds, level })) <= free);
}

function walk(looks: readonly Spent[]): { spent: number; last: Undecided | undefined } {
  let spent = 0;
  let last: Undecided | undefined;
  for (const look of looks) {
    if (look.level === 0) continue;
    const bound = boundOf(look);
    spent += last === undefined ? look.level : crossAt(last, look.rounds, bound);
    last = continueTo(last, look.rounds, bound);
  }
  return { spent, last };
}

/** The score at which a look decides. */
function boundOf({ rounds, level }: Spent): number {
  return upperPoint(level / 2) * Math.sqrt(rounds);
}

/** Returns the probability that a comparison is undecided before a look and decided at it. */
function crossAt(before: Undecided, rounds: number, bound: number): number {
  const sd = deviationBetween(before, rounds);
  return integrate(before, (score) => upperTail((bound - score) / sd) + upperTail((bound + score) / sd));
}

function continueTo(before: Undecided | undefined, rounds: number, bound: number): Undecided {
  const sd = before === undefined ? Math.sqrt(rounds) : deviationBetween(before, rounds);
  const density = Float64Array.from({ length: STEPS + 1 }, (_, step) => {
    const score = scoreAt(bound, step);
    if (before === undefined) return normalDensity(score, sd);
    return integrate(before, (from) => normalDensity(score - from, sd));
  });
  return { rounds, bound, density };
}

function deviationBetween(before: Undecided, rounds: number): number {
  if (rounds <= before.rounds)
    throw new RangeError(`a look at ${rounds} rounds after one at ${before.rounds}`);
  return Math.sqrt(rounds - before.rounds);
}

function scoreAt(bound: number, step: number): number {
  return bound * ((2 * step) / STEPS - 1);
}

/** Integrates a function over the density by Simpson's rule. */
function integrate({ bound, density }: Undecided, of: (score: number) => number): number {
  let total = 0;
  for (let step = 0; step <= STEPS; step++) {
    const weight = step === 0 || step === STEPS ? 1 : step % 2 === 0 ? 2 : 4;
    total += weight * density[step]! * of(scoreAt(bound, step));
  }
  return (total * 2 * bound) / STEPS / 3;
}

function normalDensity(value: number, sd: number): number {
  return Math.exp(-0.5 * (value / sd) ** 2) / (sd * Math.sqrt(2 * Math.PI));
}

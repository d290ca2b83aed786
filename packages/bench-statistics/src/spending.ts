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

/** The score of a comparison that no look so far has decided, with the probability of each of its values by Simpson's rule. */
interface Undecided {
  rounds: number;
  /** Evenly spaced, from the bound below to that above. */
  scores: Float64Array;
  chances: Float64Array;
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
  const isTooNear = (bound: number): boolean => crossAt(last, rounds, bound) > free;
  return 2 * upperTail(bisect(0, 40 * Math.sqrt(rounds), isTooNear) / Math.sqrt(rounds));
}

/** By the looks so far: those of a schedule begin alike. */
const continued = new Map<string, Undecided>();

function walk(looks: readonly Spent[]): { spent: number; last: Undecided } {
  let spent = 0;
  let last: Undecided = { rounds: 0, scores: Float64Array.of(0), chances: Float64Array.of(1) };
  let key = '';
  for (const { rounds, level } of looks) {
    if (level === 0) continue;
    const bound = upperPoint(level / 2) * Math.sqrt(rounds);
    spent += crossAt(last, rounds, bound);
    key += `${rounds} ${level} `;
    last = continued.get(key) ?? continueTo(last, rounds, bound);
    if (continued.size > 1000) continued.clear();
    continued.set(key, last);
  }
  return { spent, last };
}

/** Returns the probability that a comparison is undecided before a look and decided at it, on either side alike. */
function crossAt(before: Undecided, rounds: number, bound: number): number {
  const sd = deviationBetween(before, rounds);
  const { scores, chances } = before;
  let above = 0;
  for (let at = 0; at < scores.length; at++) above += chances[at]! * upperTail((bound - scores[at]!) / sd);
  return 2 * above;
}

function continueTo(before: Undecided, rounds: number, bound: number): Undecided {
  const sd = deviationBetween(before, rounds);
  const scores = Float64Array.from({ length: STEPS + 1 }, (_, step) => bound * ((2 * step) / STEPS - 1));
  const chances = new Float64Array(STEPS + 1);
  const scale = (2 * bound) / STEPS / 3 / (sd * Math.sqrt(2 * Math.PI));
  // Both sides of 0 are alike.
  for (let step = 0; step <= STEPS / 2; step++) {
    let density = 0;
    for (let at = 0; at < before.scores.length; at++)
      density += before.chances[at]! * Math.exp(-0.5 * ((scores[step]! - before.scores[at]!) / sd) ** 2);
    const weight = step === 0 ? 1 : step % 2 === 0 ? 2 : 4;
    chances[step] = weight * scale * density;
    chances[STEPS - step] = chances[step]!;
  }
  return { rounds, scores, chances };
}

function deviationBetween(before: Undecided, rounds: number): number {
  if (rounds <= before.rounds)
    throw new RangeError(`a look at ${rounds} rounds after one at ${before.rounds}`);
  return Math.sqrt(rounds - before.rounds);
}

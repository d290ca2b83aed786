/**
 * Kinds of processes: the levels at which processes of one target settle.
 *
 * The logarithms of the figures are cut into 1 to 4 groups with the least sum of squares within (Fisher 1958). The number
 * of groups has the least n ln(squares) plus a penalty for each further group, as in the tests for clusters of Engelman &
 * Hartigan (1969). Few processes say little of the deviation within a kind, so an expected deviation counts as much as
 * six processes. Neighbouring kinds are at least 5 % and 3.25 expected deviations apart. The penalty was set by simulation: processes of one kind with
 * a deviation of up to 2 % are split in at most 5 % of studies (test/analyse/warmup/kinds.test.ts).
 */
import { mean, sum, type Interval } from '../../numbers.ts';
import type { Kind, Kinds, RatioEstimate } from './study.ts';

const MOST_KINDS = 4;
const LEAST_DISTANCE = { log: Math.log(1.05), deviations: 3.25 };
/** Pairs of fresh vanilla processes, by short turns, differ by that much. */
const USUAL_DEVIATION = 0.015;
/** The number of processes that the expected deviation counts as. */
const PRIOR_PROCESSES = 6;
const PENALTY = { once: 6, perProcess: 1.1 };
/** Half of a 95 % interval, in standard errors. */
const HALF_WIDTH = 1.96;

/** The figure of one process. */
export interface Figure {
  log: number;
  weight: number;
  index: number;
}

/**
 * Groups the figures of processes, such as CPU per request, into kinds. The default of `expected`, the standard deviation
 * within a kind as a share, holds for ratios by short turns. Figures that were measured one after the other need the
 * larger deviation of such figures. Throws RangeError without figures, and for a figure or deviation that is not above 0.
 */
export function findKinds(figures: readonly RatioEstimate[], expected = USUAL_DEVIATION): Kinds {
  if (!(expected > 0)) throw new RangeError(`a deviation must be above 0, not ${expected}`);
  if (figures.length === 0) throw new RangeError('no processes have no kinds');
  const sorted = figures
    .map(({ ratio, interval }, index) => {
      if (!(ratio > 0)) throw new RangeError(`a figure must be above 0, not ${ratio}`);
      return { log: Math.log(ratio), weight: weightOf(interval, expected), index };
    })
    .toSorted((a, b) => a.log - b.log);
  const n = sorted.length;
  const total = n + PRIOR_PROCESSES;
  const penalty = PENALTY.once + PENALTY.perProcess * n;
  const score = (groups: readonly Figure[][]): number => {
    const squares = sum(groups.map(squaresOf)) + PRIOR_PROCESSES * expected ** 2;
    return total * Math.log(squares / total) + penalty * (groups.length - 1);
  };

  let best = [sorted];
  for (const groups of groupings(sorted, MOST_KINDS)) {
    if (areApart(groups, expected) && score(groups) < score(best)) best = groups;
  }
  const freedom = n - best.length;
  return {
    kinds: best.map((group) => kindOf(group, n)),
    deviation: freedom > 0 ? Math.sqrt(sum(best.map(squaresOf)) / freedom) : 0,
  };
}

/** The 95 % interval of a share of `count` in `of` (Wilson 1927). */
export function shareInterval(count: number, of: number): Interval {
  const z = HALF_WIDTH ** 2 / of;
  const share = count / of;
  const centre = (share + z / 2) / (1 + z);
  const margin = Math.sqrt((share * (1 - share) + z / 4) * z) / (1 + z);
  return { low: Math.max(0, centre - margin), high: Math.min(1, centre + margin) };
}

/** The weight of a process: less than 1 if its level is less certain than the expected deviation within a kind. */
function weightOf(interval: Interval | undefined, expected: number): number {
  if (!interval) return 1;
  const error = Math.log(interval.high / interval.low) / 2 / HALF_WIDTH;
  return 1 / Math.max(1, (error / expected) ** 2);
}

function kindOf(group: readonly Figure[], of: number): Kind {
  return {
    processes: group.map(({ index }) => index).toSorted((a, b) => a - b),
    share: group.length / of,
    shareInterval: shareInterval(group.length, of),
    centre: Math.exp(mean(group.map(({ log }) => log))),
    low: Math.exp(group[0]!.log),
    high: Math.exp(group.at(-1)!.log),
  };
}

function areApart(groups: readonly Figure[][], expected: number): boolean {
  const centres = groups.map(centreOf);
  const least = Math.max(LEAST_DISTANCE.log, LEAST_DISTANCE.deviations * expected);
  return centres.every((centre, at) => at === 0 || centre - centres[at - 1]! >= least);
}

function centreOf(group: readonly Figure[]): number {
  return sum(group.map(({ log, weight }) => weight * log)) / sum(group.map(({ weight }) => weight));
}

function squaresOf(group: readonly Figure[]): number {
  const centre = centreOf(group);
  return sum(group.map(({ log, weight }) => weight * (log - centre) ** 2));
}

/**
 * The groups with the least sum of squares within, for 1 to `most` contiguous groups, by dynamic programming. A cut never
 * moves back as figures are added, so the cuts of the middle bound those of either side: n log n steps for each group (Wu
 * 1991, "Optimal quantization by matrix searching"; Grønlund et al. 2017).
 */
export function groupings(sorted: readonly Figure[], most: number): Figure[][][] {
  const n = sorted.length;
  const squares = squaresWithin(sorted);
  let cheapest = Float64Array.from({ length: n + 1 }, (_, to) => squares(0, to));
  const cuts: Int32Array[] = [];
  const found = [[[...sorted]]];
  for (let count = 2; count <= Math.min(most, n); count++) {
    const before = cheapest;
    const cut = new Int32Array(n + 1);
    cheapest = new Float64Array(n + 1).fill(Infinity);
    const findCuts = (first: number, last: number, least: number, greatest: number): void => {
      if (first > last) return;
      const to = (first + last) >> 1;
      for (let from = least; from <= Math.min(greatest, to - 1); from++) {
        const total = before[from]! + squares(from, to);
        if (total >= cheapest[to]!) continue;
        cheapest[to] = total;
        cut[to] = from;
      }
      findCuts(first, to - 1, least, cut[to]!);
      findCuts(to + 1, last, cut[to]!, greatest);
    };
    findCuts(count, n, count - 1, n - 1);
    cuts.push(cut);
    found.push(groupsAt(sorted, cuts));
  }
  return found;
}

/** Follows the cuts back from the end: the last array holds those of the last group. */
function groupsAt(sorted: readonly Figure[], cuts: readonly Int32Array[]): Figure[][] {
  const groups: Figure[][] = [];
  let end = sorted.length;
  for (const cut of cuts.toReversed()) {
    groups.unshift(sorted.slice(cut[end], end));
    end = cut[end]!;
  }
  return [sorted.slice(0, end), ...groups];
}

/** Returns a function of the weighted sum of squares of the figures from one place up to another, from running sums. */
function squaresWithin(sorted: readonly Figure[]): (from: number, to: number) => number {
  // Around their mean, the sums lose no digits to a common offset.
  const centre = centreOf(sorted);
  const [weights, sums, squares] = [0, 1, 2].map((power) => {
    const running = new Float64Array(sorted.length + 1);
    for (const [at, { log, weight }] of sorted.entries())
      running[at + 1] = running[at]! + weight * (log - centre) ** power;
    return running;
  }) as [Float64Array, Float64Array, Float64Array];
  return (from, to) => {
    const weight = weights[to]! - weights[from]!;
    if (weight === 0) return 0;
    const total = sums[to]! - sums[from]!;
    return Math.max(0, squares[to]! - squares[from]! - total ** 2 / weight);
  };
}

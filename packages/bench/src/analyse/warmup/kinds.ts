/**
 * Kinds of processes: the levels at which processes of one target settle.
 *
 * The logarithms of the figures are cut into 1 to 4 groups with the least sum of squares within (Fisher 1958). The number
 * of groups has the least n ln(squares) plus a penalty for each further group, as in the tests for clusters of Engelman &
 * Hartigan (1969). Few processes say little of the deviation within a kind, so an expected deviation counts as much as
 * six processes. Neighbouring kinds are at least 5 % and 3.25 expected deviations apart. The penalty was set by simulation: processes of one kind with
 * a deviation of up to 2 % are split in at most 5 % of studies (test/analyse/warmup/kinds.test.ts).
 */
import { mean, sum } from '../../numbers.ts';
import type { Interval } from '../signed-rank.ts';
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

interface Figure {
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

/** A process whose level is less certain than kinds are alike says less. */
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

/** The groups with the least sum of squares within, for 1 to `most` contiguous groups, by dynamic programming. */
function groupings(sorted: readonly Figure[], most: number): Figure[][][] {
  const n = sorted.length;
  const cost = sorted.map((_, from) => squaresFrom(sorted, from));
  let cheapest = Array.from({ length: n + 1 }, (_, to) => (to === 0 ? Infinity : cost[0]![to - 1]!));
  let starts = Array.from({ length: n + 1 }, (): number[] => [0]);
  const found = [[[...sorted]]];
  for (let count = 2; count <= Math.min(most, n); count++) {
    const [before, startsBefore] = [cheapest, starts];
    cheapest = before.map(() => Infinity);
    starts = startsBefore.map(() => []);
    for (let to = count; to <= n; to++) {
      for (let from = count - 1; from < to; from++) {
        const squares = before[from]! + cost[from]![to - from - 1]!;
        if (squares >= cheapest[to]!) continue;
        cheapest[to] = squares;
        starts[to] = [...startsBefore[from]!, from];
      }
    }
    found.push(starts[n]!.map((from, at) => sorted.slice(from, starts[n]![at + 1] ?? n)));
  }
  return found;
}

/** The sum of squares of the figures from `from` on, by the number of figures less one (Welford 1962, with weights). */
function squaresFrom(sorted: readonly Figure[], from: number): number[] {
  let [total, centre, squares] = [0, 0, 0];
  return sorted.slice(from).map(({ log, weight }) => {
    const distance = log - centre;
    total += weight;
    centre += (weight * distance) / total;
    return (squares += weight * distance * (log - centre));
  });
}

/** The rate at which a share reaches a level, from shares that were seen at several rates. */
import { clamp, sum } from './numbers.ts';

/** The requests at one rate, and those of them that count. */
export interface Shares {
  perSecond: number;
  requests: number;
  counted: number;
}

/** The rate at which the share reaches its level, and how it gets there. */
export interface Threshold {
  perSecond: number;
  /** The standard deviation of its logarithm, as far as the counts tell. */
  deviation: number;
  /** The change of the log odds of the share from this rate to twice it. */
  slope: number;
}

/** Where a threshold probably is, and the standard deviation of its logarithm. */
export type Around = Pick<Threshold, 'perSecond' | 'deviation'>;

/** What is known beside the shares. */
interface Known {
  /** The rate around which to look. */
  start: number;
  /** The time beyond which a response counts, in seconds; undefined if the share is of something else. */
  limitSeconds: number | undefined;
  /** The most likely slope of the log odds before any count, relative to that of M/M/1. */
  steepness?: number | undefined;
  /** True for a first, rough place: the counts are taken for independent. */
  isRough?: boolean;
  /** Where other trials found the threshold. */
  around?: Around | undefined;
}

/** The slopes that are possible: from a share that is nearly the same at all rates to one near saturation. */
const SLOPES = [2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181];
/**
 * The variance of a count over that of independent requests: slow responses come in bursts. In simulations of M/M/1, M/D/1 and pools it is about this
 * times the square of λ t, and lies between these bounds.
 */
const DISPERSION = { times: 0.4, least: 10, most: 1000, plain: 30 };
/** The standard deviation of the logarithm of a slope around the most likely one. */
const SLOPE_DEVIATION = 0.35;
/** The usual slope relative to that of M/M/1: M/D/1 has 2.2, and a pool of ten 1.5. */
const STEEPNESS = 1.4;
/** The usual slope of a share that is not of late responses. */
const PLAIN_SLOPE = 8;
/** The points of a grid of rates. */
const POINTS = 121;
/** The half widths of the grids, in log rate: the first finds the place, the second locates it. */
const WIDTHS = [1.2, 0.35];
/** A share above this shows only that the rate is too high: how many responses are slow there depends on the time that the queue has to grow. */
const SATURATED = 0.2;
/** The distance in log rate at which a rate has 61 % of its weight: far from the threshold, the log odds are no line. */
const NEAR = 0.12;

/**
 * Locates the rate at which a share that rises with the rate reaches `level`. The log odds of the share are taken to rise with
 * the rate in a line, which is exact for the tail of M/M/1 and small shares. Returns the mean over all places and slopes,
 * weighted by their likelihood (QUEST: Watson & Pelli 1983), whose logarithm the dispersion of the counts divides (McCullagh &
 * Nelder 1989, 9.2). In M/M/1, the share beyond a time t is exp(−(μ − λ) t), which has the slope λ t: the likely slopes are near it.
 */
export function locateThreshold(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  known: Known,
): Threshold {
  const { start, isRough = false, around } = known;
  let found = { perSecond: start, deviation: Infinity, slope: NaN };
  for (const [index, halfWidth] of WIDTHS.entries()) {
    const grid = { centre: Math.log(found.perSecond), halfWidth };
    const near = index === 0 ? Infinity : NEAR;
    const dispersion = isRough ? 1 : dispersionAt(found.perSecond, known);
    const cells = weigh(shares, level, { ...grid, near, dispersion }).map((cell) => {
      const distance =
        around === undefined ? 0 : (cell.place - Math.log(around.perSecond)) / around.deviation;
      return { ...cell, log: cell.log + priorOf(cell, known) + logOfNormal(distance) };
    });
    found = averageOf(cells);
  }
  return found;
}

/** The threshold of several trials, and what it is without each of them. */
export interface SharedThreshold extends Threshold {
  /** The slope, relative to that of M/M/1. */
  steepness: number;
  /** Per second, in the order of the trials. */
  without: number[];
}

/**
 * Locates the threshold of several trials: the centre of theirs, which deviate from it by `spread`, the standard deviation of the logarithm,
 * because a server has another pace in each. All have one slope. Where that is flat, this adds the counts of the trials; where it
 * is steep, it is near the mean of their thresholds.
 */
export function locateTogether(
  trials: readonly (readonly Shares[])[],
  level: (one: Shares) => number,
  { spread, ...known }: Omit<Known, 'isRough' | 'around'> & { spread: number },
): SharedThreshold {
  const locateAround = (perSecond: number): Threshold & { without: number[] } => {
    const dispersion = dispersionAt(perSecond, known);
    const grid = { centre: Math.log(perSecond), halfWidth: WIDTHS.at(-1) as number, near: NEAR, dispersion };
    const each = trials.map((shares) => spreadOut(weigh(shares, level, grid), spread));
    const all = weigh([], level, grid).map((cell, index) => ({
      ...cell,
      log: priorOf(cell, known) + sum(each.map((one) => one[index] as number)),
    }));
    const without = each.map((own) => {
      const others = all.map((cell, index) => ({ ...cell, log: cell.log - (own[index] as number) }));
      return averageOf(others).perSecond;
    });
    return { ...averageOf(all), without };
  };
  const rough = locateAround(locateThreshold(trials.flat(), level, known).perSecond);
  const found = locateAround(rough.perSecond);
  const { perSecond, slope } = found;
  return { ...found, steepness: slope / likelySlope(perSecond, { ...known, steepness: 1 }) };
}

/** Returns the likelihood of each cell if the place of a trial deviates from it by a spread. */
function spreadOut(cells: readonly Cell[], spread: number): number[] {
  return cells.map(({ place }, index) => {
    const logAt = (at: number): number => cells[at]!.log + logOfNormal((cells[at]!.place - place) / spread);
    const first = index % SLOPES.length;
    let most = -Infinity;
    for (let at = first; at < cells.length; at += SLOPES.length) most = Math.max(most, logAt(at));
    let total = 0;
    for (let at = first; at < cells.length; at += SLOPES.length) total += Math.exp(logAt(at) - most);
    return most + Math.log(total);
  });
}

/** Returns the likely slope of the log odds at the rate where a share reaches its level. */
export function likelySlope(
  perSecond: number,
  { limitSeconds, steepness = STEEPNESS }: Pick<Known, 'limitSeconds' | 'steepness'>,
): number {
  const slope = limitSeconds === undefined ? PLAIN_SLOPE : steepness * perSecond * limitSeconds;
  return clamp(slope, SLOPES[0] as number, SLOPES.at(-1) as number);
}

function dispersionAt(perSecond: number, { limitSeconds }: Pick<Known, 'limitSeconds'>): number {
  const { times, least, most, plain } = DISPERSION;
  return limitSeconds === undefined ? plain : clamp(times * (perSecond * limitSeconds) ** 2, least, most);
}

function priorOf({ place, slope }: Cell, known: Known): number {
  return logOfNormal(Math.log(slope / likelySlope(Math.exp(place), known)) / SLOPE_DEVIATION);
}

/** A place and a slope, and the logarithm of their likelihood. */
interface Cell {
  /** The logarithm of a rate. */
  place: number;
  slope: number;
  log: number;
}

/** Returns the likelihoods of a grid, by place and slope. The dispersion divides their logarithms. */
function weigh(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  grid: { centre: number; halfWidth: number; near: number; dispersion: number },
): Cell[] {
  const seen = shares.map((one) => {
    const distance = Math.log(one.perSecond / Math.exp(grid.centre)) / grid.near;
    const weight = Math.exp(logOfNormal(distance)) / grid.dispersion;
    const share = one.counted / one.requests;
    const most = share > SATURATED ? oddsOf(share) : Infinity;
    return { ...one, odds: oddsOf(level(one)), most, weight };
  });
  return Array.from({ length: POINTS }, (_, index) => {
    const place = grid.centre + grid.halfWidth * ((2 * index) / (POINTS - 1) - 1);
    const rate = Math.exp(place);
    return SLOPES.map((slope) => ({
      place,
      slope,
      log: sum(
        seen.map(({ perSecond, odds, most, requests, counted, weight }) => {
          const [log, logRest] = logistic(Math.min(most, odds + slope * (perSecond / rate - 1)));
          return weight * (counted * log + (requests - counted) * logRest);
        }),
      ),
    }));
  }).flat();
}

/** The logarithm of the density of a standard normal variable, without its constant. */
function logOfNormal(value: number): number {
  return -(value ** 2) / 2;
}

/** Returns the mean place and slope, weighted by their likelihoods. */
function averageOf(cells: readonly Cell[]): Threshold {
  const most = Math.max(...cells.map(({ log }) => log));
  const weights = cells.map((cell) => ({ ...cell, weight: Math.exp(cell.log - most) }));
  const total = sum(weights.map(({ weight }) => weight));
  const average = (of: (cell: Cell) => number): number =>
    sum(weights.map((cell) => cell.weight * of(cell))) / total;
  const place = average((cell) => cell.place);
  return {
    perSecond: Math.exp(place),
    deviation: Math.sqrt(average((cell) => (cell.place - place) ** 2)),
    slope: Math.exp(average(({ slope }) => Math.log(slope))),
  };
}

function oddsOf(share: number): number {
  return Math.log(share / (1 - share));
}

/** The logs of the chance with these log odds, and of its complement. */
function logistic(odds: number): [number, number] {
  const rest = odds > 0 ? -odds - Math.log1p(Math.exp(-odds)) : -Math.log1p(Math.exp(odds));
  return [rest + odds, rest];
}

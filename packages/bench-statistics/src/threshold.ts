/** The rate at which a share reaches a level, from shares that were seen at several rates. */
import { clamp, mean, sum } from './numbers.ts';

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
  /** The same, relative to that of M/M/1. */
  steepness: number;
}

/** Where a threshold probably is, and the standard deviation of its logarithm. */
export interface Around {
  perSecond: number;
  deviation: number;
}

/** What is known beside the shares. */
interface Known {
  /** The rate around which to look. */
  start: number;
  /** The goodput of a closed loop. */
  pace: number;
  /** The most likely slope of the log odds before any count, relative to that of M/M/1; 1 by default. */
  steepness?: number | undefined;
  /** True if the counts are independent: they come in bursts otherwise. */
  isRough?: boolean;
  /** Where other trials found the threshold. */
  around?: Around | undefined;
}

/** The slopes that are possible: from a share that is nearly the same at all rates to one near saturation. */
const SLOPES = [2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128];
/** The variance of a count over that of independent requests, at most: slow answers come in bursts. */
const DISPERSION = 60;
/** The standard deviation of the logarithm of a slope around the most likely one. */
const SLOPE_DEVIATION = 0.35;
/**
 * The utilisations for which the slope of M/M/1 is taken: the pace of a closed loop is no exact limit. Beyond it, few connections
 * were the limit of the loop, and the utilisation falls to the last of these.
 */
const UTILISATION = { least: 0.2, most: 0.97, beyond: 0.8 };
/** The points of a grid of rates. */
const POINTS = 121;
/** The half widths of the grids, in log rate: the first finds the place, the second locates it. */
const WIDTHS = [1.2, 0.35];
/** A share above this shows only that the rate is too high: how many answers are slow there depends on the time that the queue has to grow. */
const SATURATED = 0.2;
/** The distance in log rate at which a rate has 61 % of its weight: far from the threshold, the log odds are no line. */
const NEAR = 0.12;

/**
 * Locates the rate at which a share that rises with the rate reaches `level`. The log odds of the share are taken to rise with
 * the rate in a line, which is exact for the tail of M/M/1 and small shares. Returns the mean over all places and slopes,
 * weighted by their likelihood (QUEST: Watson & Pelli 1983), whose logarithm the dispersion of the counts divides (McCullagh &
 * Nelder 1989, 9.2). In M/M/1, a share of `level` has the slope ln(1/level) · ρ/(1 − ρ) at the utilisation ρ: the likely slopes
 * are near it, and ρ is the rate over the pace.
 */
export function locateThreshold(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  { start, pace, steepness = 1, isRough = false, around }: Known,
): Threshold {
  const usual = mean(shares.map(level));
  let found = { perSecond: start, deviation: Infinity, slope: NaN };
  for (const [index, halfWidth] of WIDTHS.entries()) {
    const grid = { centre: Math.log(found.perSecond), halfWidth };
    const [near, dispersion] = index === 0 ? [Infinity, 1] : [NEAR, isRough ? 1 : DISPERSION];
    const cells = weigh(shares, level, { ...grid, near, dispersion }).map(({ place, slope, log }) => {
      const likely = likelySlope(steepness, Math.exp(place) / pace, usual);
      const distance = around === undefined ? 0 : (place - Math.log(around.perSecond)) / around.deviation;
      const prior = logOfNormal(Math.log(slope / likely) / SLOPE_DEVIATION) + logOfNormal(distance);
      return { place, slope, log: log + prior };
    });
    found = averageOf(cells);
  }
  return { ...found, steepness: found.slope / likelySlope(1, found.perSecond / pace, usual) };
}

/** Returns the likely slope of the log odds where a share reaches `level`, at a utilisation: the rate over the pace. */
export function likelySlope(steepness: number, utilisation: number, level: number): number {
  const { least, most, beyond } = UTILISATION;
  const share = utilisation < 1 ? clamp(utilisation, least, most) : clamp(1 / utilisation, beyond, most);
  return (steepness * Math.log(1 / level) * share) / (1 - share);
}

function weightOf(ratio: number, near: number): number {
  return Math.exp(logOfNormal(Math.log(ratio) / near));
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
    const weight = weightOf(one.perSecond / Math.exp(grid.centre), grid.near) / grid.dispersion;
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
function averageOf(cells: readonly Cell[]): Omit<Threshold, 'steepness'> {
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

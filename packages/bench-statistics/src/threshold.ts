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
}

/** How a share rises with the rate, and how much its counts vary. */
export interface Growth {
  /** The most likely slope of the log odds, relative to that of M/M/1. */
  steepness: number;
  /** The variance of a count over that of independent requests: slow answers come in bursts. */
  dispersion: number;
}

/** What is known beside the shares. */
interface Known {
  /** The rate around which to look. */
  start: number;
  /** The goodput of a closed loop. */
  pace: number;
  growth: Growth;
  /** The slope, if the shares are not to tell it. */
  slope?: number;
}

/** The slopes that are possible: from a share that is nearly the same at all rates to one near saturation. */
const SLOPES = [2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128];
/** The growth before any count; a dispersion is no higher. */
const USUAL: Growth = { steepness: 0.7, dispersion: 15 };
/** The standard deviation of the logarithm of a slope around the most likely one. */
const SLOPE_DEVIATION = 0.7;
/**
 * The utilisations for which the slope of M/M/1 is taken: the pace of a closed loop is no exact limit. Beyond it, few connections
 * were the limit of the loop, and the utilisation falls to the last of these.
 */
const UTILISATION = { least: 0.2, most: 0.97, beyond: 0.8 };
/** The number of steps that the usual dispersion is worth. */
const USUAL_STEPS = 2;
/** The points of a grid of rates. */
const POINTS = 121;
/** The half widths of the grids, in log rate: the first finds the place, the second locates it. */
const WIDTHS = [1.2, 0.35];
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
  { start, pace, growth, slope }: Known,
): Threshold {
  let found: Threshold = { perSecond: start, deviation: Infinity, slope: NaN };
  for (const [index, halfWidth] of WIDTHS.entries()) {
    const centre = Math.log(found.perSecond);
    const [near, dispersion] = index === 0 ? [Infinity, 1] : [NEAR, growth.dispersion];
    found = weigh(shares, level, {
      centre,
      halfWidth,
      near,
      pace,
      growth: { ...growth, dispersion },
      ...(slope !== undefined && { slope }),
    });
  }
  return found;
}

/**
 * Learns how the share of a server grows from shares at several rates, without any the usual one. Its dispersion is the mean squared
 * deviation of the counts from what is expected, relative to that of independent requests.
 */
export function learnGrowth(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  { start, pace }: Pick<Known, 'start' | 'pace'>,
): Growth {
  if (shares.length === 0) return USUAL;
  const among = (dispersion: number): Threshold =>
    locateThreshold(shares, level, { start, pace, growth: { ...USUAL, dispersion } });
  const { perSecond, slope } = among(1);
  const seen = shares.map((one) => {
    const share = Math.exp(logistic(oddsOf(level(one)) + slope * (one.perSecond / perSecond - 1))[0]);
    const expected = one.requests * share;
    const variance = Math.max(expected * (1 - share), 0.5);
    return {
      weight: weightOf(one.perSecond / perSecond, NEAR),
      ratio: (one.counted - expected) ** 2 / variance,
    };
  });
  const all = sum(seen.map(({ weight, ratio }) => weight * ratio)) + USUAL_STEPS * USUAL.dispersion;
  const weight = sum(seen.map((one) => one.weight)) + USUAL_STEPS;
  const dispersion = clamp(all / weight, 1, USUAL.dispersion);
  const found = among(dispersion);
  return { dispersion, steepness: found.slope / slopeOfMM1(found.perSecond / pace, mean(shares.map(level))) };
}

/** Returns the likely slope of the log odds where a share reaches `level` at this utilisation: the rate over the pace. */
export function likelySlope({ steepness }: Growth, utilisation: number, level: number): number {
  return steepness * slopeOfMM1(utilisation, level);
}

/** Returns the slope of the log odds of a share of `level` in M/M/1. */
function slopeOfMM1(utilisation: number, level: number): number {
  const { least, most, beyond } = UTILISATION;
  const share = utilisation < 1 ? clamp(utilisation, least, most) : clamp(1 / utilisation, beyond, most);
  return (Math.log(1 / level) * share) / (1 - share);
}

function weightOf(ratio: number, near: number): number {
  return Math.exp(-((Math.log(ratio) / near) ** 2) / 2);
}

function weigh(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  {
    centre,
    halfWidth,
    near,
    pace,
    growth,
    slope: known,
  }: { centre: number; halfWidth: number; near: number } & Omit<Known, 'start'>,
): Threshold {
  const seen = shares.map((one) => {
    const weight = weightOf(one.perSecond / Math.exp(centre), near) / growth.dispersion;
    return { ...one, odds: oddsOf(level(one)), weight };
  });
  const usual = mean(shares.map(level));
  const likelihoods = Array.from({ length: POINTS }, (_, index) => {
    const place = centre + halfWidth * ((2 * index) / (POINTS - 1) - 1);
    const rate = Math.exp(place);
    const likely = likelySlope(growth, rate / pace, usual);
    return (known === undefined ? SLOPES : [known]).map((slope) => ({
      place,
      slope,
      log:
        (known === undefined ? -((Math.log(slope / likely) / SLOPE_DEVIATION) ** 2) / 2 : 0) +
        sum(
          seen.map(({ perSecond, odds, requests, counted, weight }) => {
            const [log, logRest] = logistic(odds + slope * (perSecond / rate - 1));
            return weight * (counted * log + (requests - counted) * logRest);
          }),
        ),
    }));
  }).flat();
  const most = Math.max(...likelihoods.map(({ log }) => log));
  const weights = likelihoods.map(({ log, ...one }) => ({ ...one, weight: Math.exp(log - most) }));
  const total = sum(weights.map(({ weight }) => weight));
  const average = (of: (one: { place: number; slope: number }) => number): number =>
    sum(weights.map((one) => one.weight * of(one))) / total;
  const place = average((one) => one.place);
  return {
    perSecond: Math.exp(place),
    deviation: Math.sqrt(average((one) => (one.place - place) ** 2)),
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

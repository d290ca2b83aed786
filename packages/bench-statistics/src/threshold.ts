/** The rate at which a share reaches a level, from shares that were seen at several rates. */
import { sum } from './numbers.ts';

/** The requests at one rate, and those of them that count. */
export interface Shares {
  perSecond: number;
  requests: number;
  counted: number;
}

/** The rate at which the share reaches its level, and how well it is known. */
export interface Threshold {
  perSecond: number;
  /** The standard deviation of its logarithm, as far as the counts tell. */
  deviation: number;
}

/**
 * The slopes of the log odds of a share over the log of the rate: from a server that is slow alone to one near saturation. The
 * steeper one is, the less likely before any count (its weight is that of the square of its inverse): few counts, which come in
 * bursts, would else pass for a cliff.
 */
const SLOPES = [4, 8, 16, 32, 64, 128, 256];
/** The points of the grid of rates. */
const POINTS = 161;
/** The widths of the two grids, in log rate: the first finds the place, the second locates it. */
const WIDTHS = [1.5, 0.3];
/** The distance in log rate at which a rate has 61 % of its weight: far from the threshold, the log odds are no line. */
const NEAR = 0.1;

/**
 * Locates the rate at which a share that rises with the rate reaches `level`. The log odds of the share are taken to rise with
 * the log of the rate in a line, which is exact for the tail of M/M/1 and small shares. Returns the mean over all places and slopes,
 * weighted by their likelihood (QUEST: Watson & Pelli 1983; its rule to measure next at the estimate is the search of bench).
 * `start` is the rate around which it looks.
 */
export function locateThreshold(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  start: number,
): Threshold {
  let found = { centre: Math.log(start), deviation: Infinity };
  for (const [index, halfWidth] of WIDTHS.entries()) {
    found = weigh(shares, level, { centre: found.centre, halfWidth, near: index === 0 ? Infinity : NEAR });
  }
  return { perSecond: Math.exp(found.centre), deviation: found.deviation };
}

function weigh(
  shares: readonly Shares[],
  level: (one: Shares) => number,
  { centre, halfWidth, near }: { centre: number; halfWidth: number; near: number },
): { centre: number; deviation: number } {
  const seen = shares.map((one) => {
    const at = Math.log(one.perSecond);
    const share = level(one);
    return {
      ...one,
      at,
      odds: Math.log(share / (1 - share)),
      weight: Math.exp(-(((at - centre) / near) ** 2) / 2),
    };
  });
  const grid = Array.from(
    { length: POINTS },
    (_, index) => centre + halfWidth * ((2 * index) / (POINTS - 1) - 1),
  );
  const likelihoods = grid.flatMap((place) =>
    SLOPES.map((slope) => ({
      place,
      log:
        -2 * Math.log(slope) +
        sum(
          seen.map(({ at, odds, requests, counted, weight }) => {
            const [log, logRest] = logistic(odds + slope * (at - place));
            return weight * (counted * log + (requests - counted) * logRest);
          }),
        ),
    })),
  );
  const most = Math.max(...likelihoods.map(({ log }) => log));
  const weights = likelihoods.map(({ place, log }) => ({ place, weight: Math.exp(log - most) }));
  const total = sum(weights.map(({ weight }) => weight));
  const mean = sum(weights.map(({ place, weight }) => weight * place)) / total;
  const variance = sum(weights.map(({ place, weight }) => weight * (place - mean) ** 2)) / total;
  return { centre: mean, deviation: Math.sqrt(variance) };
}

/** The logs of the chance with these log odds, and of its complement. */
function logistic(odds: number): [number, number] {
  const rest = odds > 0 ? -odds - Math.log1p(Math.exp(-odds)) : -Math.log1p(Math.exp(odds));
  return [rest + odds, rest];
}

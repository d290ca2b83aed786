/**
 * A trend in a series of log ratios, such as those of two servers that take turns.
 *
 * The size of the trend is the slope of Theil (1950) and Sen (1968): the median over all pairs, which bursts do not disturb.
 * Whether it is a trend is decided by the least-squares slope and its standard error. The pace of a machine may wander, so the
 * error is that of first-order autoregressive noise with the largest correlation that the residuals allow. Estimated
 * correlations are too small in short series (Marriott & Pope 1954): they are corrected, and three standard errors are added.
 * Residuals are those of a parabola, because the end of a warm-up is curved, not correlated. In simulated noise, 0 to 4 % of windows have a trend.
 */
import { correlateNeighbours } from './change-points.ts';
import { upperTail } from './normal.ts';
import { clamp, median, sum } from './numbers.ts';

/** Fewer ratios do not show their correlation. */
const FEWEST = 16;
/** The error probability of a test, over all servers: a comparison has many rounds, and each is tested. */
const ERROR = 0.001;
/** The least change over the ratios, as log. */
const LEAST_CHANGE = Math.log(1.05);
/** The degree of the polynomial whose residuals are the noise. */
const DEGREE = 2;
/** The standard errors by which the correlation may exceed its estimate. */
const MARGIN = 3;
/** The largest correlation. At 1, noise is a random walk, and no slope is sure. */
const MOST_CORRELATION = 0.99;
/** Values further from the polynomial are pulled in, in median distances: 2.5 standard deviations of normal noise. */
const OUTLYING = 3.7;

/**
 * Returns the change from the first ratio to the last as a factor, if there is a trend. Ratios are logs, in order of time. `tests` is the
 * number of series that are tested at once: they share the error probability (Bonferroni).
 */
export function findTrend(logs: readonly number[], tests = 1): number | undefined {
  const count = logs.length;
  if (count < FEWEST) return undefined;
  const slopes = logs.flatMap((log, later) =>
    logs.slice(0, later).map((before, earlier) => (log - before) / (later - earlier)),
  );
  const change = median(slopes) * (count - 1);
  if (Math.abs(change) <= LEAST_CHANGE || 2 * upperTail(sureness(logs)) >= ERROR / tests) return undefined;
  return Math.exp(change);
}

/** Returns the least-squares slope in standard errors, without its sign. */
function sureness(logs: readonly number[]): number {
  const basis = polynomials(logs.length);
  const calm = pullIn(logs, basis);
  const noise = residuals(calm, basis);
  const correlation = mostCorrelation(noise);
  const covariance = logs.map((_, lag) => correlation ** lag);
  const spread = basis.map((polynomial) => varianceOf(polynomial, covariance));
  // The expected sum of squares of the residuals, for noise of variance 1.
  const expected = logs.length - sum(spread);
  const [, line = []] = basis;
  const [, lineSpread = Number.NaN] = spread;
  return Math.abs(dot(calm, line)) / Math.sqrt((dot(noise, noise) / expected) * lineSpread);
}

/** Returns the largest correlation of neighbours that residuals allow: the corrected estimate, and the margin. */
function mostCorrelation(noise: readonly number[]): number {
  const squares = dot(noise, noise);
  if (squares === 0) return 0;
  const estimate = correlateNeighbours(noise);
  const spare = noise.length - DEGREE - 3;
  const corrected = (noise.length * estimate + DEGREE + 1) / spare;
  const error = Math.sqrt(Math.max(0.05, 1 - estimate ** 2) / spare);
  return clamp(corrected + MARGIN * error, 0, MOST_CORRELATION);
}

/** Returns the values with outliers pulled in towards the polynomial that fits them. */
function pullIn(values: readonly number[], basis: readonly number[][]): number[] {
  let calm = [...values];
  for (let step = 0; step < 3; step++) {
    const noise = residuals(calm, basis);
    const fitted = calm.map((value, at) => value - (noise[at] as number));
    const apart = values.map((value, at) => value - (fitted[at] as number));
    const most = OUTLYING * median(apart.map(Math.abs));
    calm = fitted.map((value, at) => value + clamp(apart[at] as number, -most, most));
  }
  return calm;
}

/** Orthonormal polynomials over equally spaced values, from degree 0 to `DEGREE`. */
function polynomials(count: number): number[][] {
  const basis: number[][] = [];
  for (let degree = 0; degree <= DEGREE; degree++) {
    const power = Array.from({ length: count }, (_, at) => (at / (count - 1) - 0.5) ** degree);
    const rest = residuals(power, basis);
    const length = Math.sqrt(dot(rest, rest));
    basis.push(rest.map((value) => value / length));
  }
  return basis;
}

/** Returns what remains of the values without their parts along an orthonormal basis. */
function residuals(values: readonly number[], basis: readonly number[][]): number[] {
  return basis.reduce<number[]>(
    (rest, polynomial) => {
      const part = dot(rest, polynomial);
      return rest.map((value, at) => value - part * (polynomial[at] as number));
    },
    [...values],
  );
}

/** Returns the variance of a weighted sum of stationary noise with these covariances by lag. */
function varianceOf(weights: readonly number[], covariance: readonly number[]): number {
  const sumBeside = (row: number): number =>
    sum(weights.map((other, column) => other * (covariance[Math.abs(row - column)] as number)));
  return sum(weights.map((one, row) => one * sumBeside(row)));
}

/** The sum of the products of two series, over the shorter one. */
function dot(one: readonly number[], other: readonly number[]): number {
  return sum(one.map((value, at) => value * (other[at] as number)));
}

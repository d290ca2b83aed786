/**
 * A trend in the log ratios of two servers that take turns: one of them still warms up, or leaks. Pure.
 *
 * The test of Mann (1945) and Kendall (1975) counts the pairs of ratios that rise and fall with time; it knows no shape and
 * no distribution, so bursts do not disturb it. The size of the trend is the slope of Theil (1950) and Sen (1968): the
 * median over all pairs. Both have to be large: a sure trend of 1 % matters to nobody.
 */
import { median } from '../numbers.ts';

/** Fewer ratios cannot be this sure, whatever they are. */
const FEWEST = 10;
/** The two-sided error probability is 0.1 %: a duel has many rounds, and each is tested. */
const SURE = 3.29;
/** The least change over the ratios, as log. */
const LEAST_CHANGE = Math.log(1.05);

/** Returns the change from the first ratio to the last as a factor, if there is a trend. Ratios are logs, in order of time. */
export function findTrend(logs: readonly number[]): number | undefined {
  const count = logs.length;
  if (count < FEWEST) return undefined;
  let balance = 0;
  const slopes: number[] = [];
  for (let later = 1; later < count; later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      const rise = (logs[later] as number) - (logs[earlier] as number);
      balance += Math.sign(rise);
      slopes.push(rise / (later - earlier));
    }
  }
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const change = median(slopes) * (count - 1);
  const isSure = Math.abs(balance) - 1 > SURE * deviation;
  return isSure && Math.abs(change) > LEAST_CHANGE ? Math.exp(change) : undefined;
}

/** Returns the log ratios of the costs of two servers with the same place in time; those without a cost are omitted. */
export function logRatios(costs: readonly number[], others: readonly number[]): number[] {
  return costs
    .map((cost, index) => Math.log(cost / (others[index] ?? Number.NaN)))
    .filter((log) => Number.isFinite(log));
}

/** What a busy neighbour costs: the same work on one core, while others are idle and while they are busy. */
import { estimateCentre, intervalWithin, trimFor, walshAverages } from './signed-rank.ts';

/** The error of the interval. */
const ERROR = 0.05;

/** How many times as much CPU the same work takes beside a busy core, with its 95 % confidence interval. */
export interface Slowdown {
  ratio: number;
  low: number;
  high: number;
}

/** Estimates the slowdown from pairs of turns, by Hodges-Lehmann of their log ratios; undefined for too few pairs. */
export function estimateSlowdown(pairs: readonly { idleUs: number; busyUs: number }[]): Slowdown | undefined {
  const trim = trimFor(pairs.length, ERROR);
  if (trim === undefined) return undefined;
  const averages = walshAverages(pairs.map(({ idleUs, busyUs }) => Math.log(busyUs / idleUs)));
  const { low, high } = intervalWithin(averages, trim);
  return { ratio: Math.exp(estimateCentre(averages)), low: Math.exp(low), high: Math.exp(high) };
}

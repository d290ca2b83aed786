/**
 * The pace of the machine during a study, as the reference shows it.
 *
 * The ratio to the reference cancels the pace of the machine only as far as it slows both servers alike. A shared machine
 * has states that last for seconds and that do not: on one VM, they made a request of the reference 1.7 times as
 * expensive, and one of a server that mostly computes 1.3 or 1.6 times. So the turns count that met the usual pace. They
 * are chosen by the reference alone: no change of the server leads to a choice.
 *
 * Studies of known courses beside a neighbour in bursts are in docs/methodology.md.
 */
import { median } from 'bench-statistics/numbers';
import { ageBetween } from './pairs.ts';
import type { ProcessSeries } from './study.ts';

/** The machine has its usual pace if a request of the reference costs at most a third more or less than usual. */
const SAME_PACE = Math.log(4 / 3);
/** The pace at a pair is the median over it and this many pairs on either side. */
const AROUND = 3;
/** A process that met the usual pace in a smaller part of its pairs was disturbed. */
const FEWEST_USUAL = 0.5;

/**
 * The usual CPU of the reference per request, in µs: the centre of the range of paces in which most pairs were measured.
 * Undefined without pairs.
 */
export function findUsualPace(all: readonly ProcessSeries[]): number | undefined {
  const paces = all.flatMap((series) => pacesOf(series)).toSorted((a, b) => a - b);
  if (paces.length === 0) return undefined;
  let best = { from: 0, to: 0 };
  let from = 0;
  for (const [at, pace] of paces.entries()) {
    while (pace - paces[from]! > 2 * SAME_PACE) from++;
    if (at + 1 - from > best.to - best.from) best = { from, to: at + 1 };
  }
  return Math.exp(median(paces.slice(best.from, best.to)));
}

/** The pairs of a process that met the usual pace of the machine. */
export interface UsualPairs {
  series: ProcessSeries;
  /** The part of its pairs that these are, from 0 to 1. */
  share: number;
  /** True if that is less than half: what is left of its course may miss a change. */
  isDisturbed: boolean;
}

/**
 * Selects the pairs of a process at the usual pace, which is in µs per request of the reference. A process without pairs
 * has a share of 1: nothing shows that it was disturbed.
 */
export function selectUsual(series: ProcessSeries, usualUs: number | undefined): UsualPairs {
  if (usualUs === undefined || series.pairs.length === 0) return { series, share: 1, isDisturbed: false };
  const usual = Math.log(usualUs);
  const paces = pacesOf(series);
  const isUsual = paces.map((pace) => Math.abs(pace - usual) <= SAME_PACE);
  const pairs = series.pairs.flatMap((pair, at) => {
    if (!isUsual[at]) return [];
    return at === 0 || isUsual[at - 1]
      ? [pair]
      : [{ ...pair, since: ageBetween(series.pairs[at - 1]!, pair) }];
  });
  const share = pairs.length / series.pairs.length;
  return { series: { pairs }, share, isDisturbed: share < FEWEST_USUAL };
}

/** The logarithm of the pace at each pair. */
function pacesOf({ pairs }: ProcessSeries): number[] {
  const costs = pairs.map(({ referenceUs }) => Math.log(referenceUs));
  return costs.map((_, at) => median(costs.slice(Math.max(0, at - AROUND), at + AROUND + 1)));
}

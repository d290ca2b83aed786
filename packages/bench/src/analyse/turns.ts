/**
 * The difference of two servers inside one round of a duel, from their turns. Two servers that are loaded within 50 ms
 * of each other share the conditions of the machine, so the ratio of neighbouring turns hardly shows them.
 *
 * A round is the Hodges-Lehmann estimate of the log ratios of its pairs (Hodges & Lehmann 1963). On recorded turns of
 * 20 ms its deviation over 2 s a side was 0.4 to 0.5 % when the disturbances came in bursts, where the ratio of sums
 * had 0.7 to 1.2 %. On a machine whose processes outnumbered its cores, both had 1.4 %, and the median of the pairs 2 to
 * 3 %.
 */
import type { MetricId } from '../metrics.ts';
import type { Turns } from '../results/record.ts';
import { type Differences, recentre } from './differences.ts';
import { estimateCentre, intervalWithin, trimFor, walshAverages } from './signed-rank.ts';
import { type Better, logRatio } from './verdict.ts';

/** The fewest pairs that make a round. */
const FEWEST_PAIRS = 5;
/** The error of the test that costs in bursts distort no round. */
const BURST_ERROR = 0.05;

/** Returns the log ratio of a round from its turns; above 0 the candidate is worse. Undefined if turns do not give the metric. */
export function differenceOfTurns(
  candidate: Turns,
  baseline: Turns,
  by: MetricId,
  better: Better,
): number | undefined {
  const [ours, theirs] = [figuresOf(candidate, by), figuresOf(baseline, by)];
  const pairs = neighboursOf(candidate, baseline)
    .map(([turn, other]) => logRatio(ours[turn], theirs[other], better))
    .filter((ratio) => ratio !== undefined);
  const isComplete = pairs.length >= Math.max(FEWEST_PAIRS, ours.length / 2);
  return isComplete ? estimateCentre(walshAverages(pairs)) : undefined;
}

/**
 * Pairs each turn of a candidate with the nearest turn of its baseline, or with the earlier one of two. Returns their
 * indices. Without places, turns with the same index are neighbours.
 */
function neighboursOf(candidate: Turns, baseline: Turns): [number, number][] {
  const [ours, theirs] = [candidate.places, baseline.places];
  if (ours === undefined || theirs === undefined) return candidate.answers.map((_, turn) => [turn, turn]);
  let near = 0;
  return ours.map((place, turn) => {
    const distance = (other: number): number => Math.abs((theirs[other] ?? Infinity) - place);
    while (distance(near + 1) < distance(near)) near++;
    return [turn, near];
  });
}

/** Returns the figure of each turn; none for metrics that a turn is too short to give. */
function figuresOf({ answers, cpuUs, goodputPerSecond }: Turns, by: MetricId): number[] {
  if (by === 'goodput') return goodputPerSecond;
  return by === 'cpu' ? (cpuUs ?? []).map((us, turn) => us / (answers[turn] ?? 0)) : [];
}

/**
 * Chooses the differences of a comparison: those from turns, unless they contradict the figures of the rounds. A cost
 * that comes in rare bursts, such as the collection of garbage, is in the sums of a round, but not in the centre of its
 * turns. The sums then decide. The choice follows Hausman's test (Econometrica 1978) of an efficient estimate against a
 * consistent one: their differences over the rounds must have their centre at 0. Fewer than 6 rounds are too few for it.
 */
export function chooseDifferences(
  fromTurns: readonly (number | undefined)[],
  fromFigures: Differences,
): Differences {
  const gaps = fromFigures.flatMap((figure, round) => {
    const turns = fromTurns[round];
    return figure === undefined || turns === undefined ? [] : [figure.value - turns];
  });
  const trim = trimFor(gaps.length, BURST_ERROR);
  if (trim !== undefined) {
    const { low, high } = intervalWithin(walshAverages(gaps), trim);
    if (low > 0 || high < 0) return fromFigures;
  }
  return fromFigures.map((figure, round) => figure && recentre(figure, fromTurns[round] ?? figure.value));
}

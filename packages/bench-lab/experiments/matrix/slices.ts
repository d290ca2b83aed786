/** Recorded slices of CPU per request in the order of time, from turns of equal servers. */
import { median } from 'bench-statistics/numbers';
import type { Trial } from 'bench-model/record';
import { findRun, readRun } from 'bench-analysis/results/store';

/** The log costs of consecutive slices of one round, less the median of each process. */
export type Slices = number[];

/** Reads the slices of each round in turns. Throws if the run has no turns. */
export function readSlices(run: string): Slices[] {
  const { trials } = readRun(findRun(run));
  const rounds = Map.groupBy(trials, ({ duel, round }) => duel ?? `r${round}`);
  const slices = [...rounds.values()].flatMap((round) => {
    const sides = round.toSorted((a, b) => a.order - b.order).map(costsOf);
    return sides.some(({ costs }) => costs.length === 0) ? [] : [mergeByPlace(sides)];
  });
  if (slices.length === 0) throw new Error(`${run} has no turns`);
  return slices;
}

interface Side {
  costs: number[];
  places: number[] | undefined;
}

function costsOf(trial: Trial): Side {
  const turns = trial.status === 'failed' ? undefined : trial.measured.turns;
  const logs = (turns?.cpuUs ?? []).map((us, turn) => Math.log(us / (turns?.answers[turn] ?? 0)));
  const centre = logs.length === 0 ? 0 : median(logs);
  return { costs: logs.map((log) => log - centre), places: turns?.places };
}

/** Puts the slices of all sides into the order of time. Records without places come from turns A B B A, B A A B. */
function mergeByPlace(sides: readonly Side[]): Slices {
  const merged = sides.flatMap(({ costs, places }, side) =>
    costs.map((cost, turn) => ({ cost, place: places?.[turn] ?? placeOf(side, turn) })),
  );
  return merged
    .toSorted((a, b) => a.place - b.place)
    .map(({ cost }) => cost)
    .filter(Number.isFinite);
}

const QUAD = [
  [0, 3, 5, 6],
  [1, 2, 4, 7],
];

function placeOf(side: number, turn: number): number {
  return 8 * Math.floor(turn / 4) + (QUAD[side]?.[turn % 4] ?? 0);
}

/** The scaling of servers: one worker of one thread on one core, against more workers or more threads on more cores. */
import { measuredOf } from 'bench-model/trial';
import type { Scale, Target } from 'bench-model/target';
import { METRICS } from 'bench-model/metrics';
import { present } from 'bench-model/options';
import { median, medianOf } from 'bench-statistics/numbers';
import type { Trial } from 'bench-model/record';
import { keyOfPlace, placeOf, type Place } from 'bench-model/planned';
import { cellOf, groupByCell } from './cells.ts';
import { figureOf } from './metrics.ts';
import type { Figure, Row } from './summary.ts';

/** One server in a scaling view. */
export interface ScaledRow {
  target: string;
  scale: Scale;
  /** True if the load ran on its cores too, so that it could not use all of them. */
  isShared: boolean;
  /** Goodput ÷ that of one worker of one thread in the same round; absent if no round has both. */
  speedUp?: Figure;
  /** Speed-up ÷ cores, as shares of 1. */
  efficiency?: Figure;
  /** Median of the CPU that it used, in cores; absent if not measured. */
  coresUsed?: number;
  /** The most processes of its tree at the end of a window; absent if not measured. */
  processes?: number;
  /** The speed-up of each round. */
  rounds: { round: number; speedUp: number }[];
}

/** One stack on one runtime at a place, in all its sizes. */
export interface Scaling extends Place {
  /** The target with one worker of one thread. */
  of: string;
  rows: ScaledRow[];
}

/** Returns the scaling of each target at each place, in the order of the plan; empty if nothing was scaled (`--scale`). */
export function toScalings(rows: readonly Row[], targets: readonly Target[], trials: Trial[]): Scaling[] {
  const scaled = targets.flatMap(({ id, scale }) => (scale === undefined ? [] : [{ target: id, scale }]));
  const groups = groupByCell(trials);
  const places = new Map(rows.map((row) => [keyOfPlace(row), placeOf(row)]));
  return [...places.values()].flatMap((place) =>
    [...Map.groupBy(scaled, ({ scale }) => scale.of)].flatMap(([of, members]) => {
      const trialsOf = (target: string): Trial[] => groups.get(cellOf({ target, ...place })) ?? [];
      const measured = members.filter(({ target }) => trialsOf(target).length > 0);
      if (measured.length === 0) return [];
      const own = measured.map((member) => toScaledRow(member, trialsOf(member.target), trialsOf(of)));
      return [{ of, ...place, rows: own }];
    }),
  );
}

function toScaledRow(
  { target, scale }: Pick<ScaledRow, 'target' | 'scale'>,
  trials: Trial[],
  base: Trial[],
): ScaledRow {
  const isBase = target === scale.of;
  const isShared = trials.some(({ placement }) => placement.kind === 'shared');
  const pairs = trials.flatMap((trial) => {
    const other = base.find(({ round }) => round === trial.round);
    const [ours, theirs] = [trial, other].map((one) => one && figureOf(one, METRICS.goodput));
    return ours === undefined || theirs === undefined || theirs.value === 0
      ? []
      : [{ round: trial.round, ratio: ours.value / theirs.value, ours, theirs }];
  });
  const sound = pairs.filter(({ ours, theirs }) => (ours.valid || ours.atLeast) && theirs.valid);
  const used = sound.length > 0 ? sound : pairs;
  const ratios = used.map(({ ratio }) => ratio);
  const speedUp: Figure | undefined =
    ratios.length === 0
      ? undefined
      : {
          median: median(ratios),
          least: Math.min(...ratios),
          most: Math.max(...ratios),
          rounds: ratios.length,
          // The speed-up over a lower bound is an upper one, so it is not valid.
          atLeast: !isBase && (isShared || sound.some(({ ours }) => ours.atLeast)) && sound.length > 0,
          valid: isBase || sound.length > 0,
        };
  const resources = trials.flatMap((trial) => measuredOf(trial)?.server ?? []);
  const counts = resources.flatMap(({ processes }) => processes ?? []);
  return {
    target,
    scale,
    isShared,
    ...(speedUp && { speedUp, efficiency: scaleFigure(speedUp, 1 / scale.cores) }),
    ...present({ coresUsed: medianOf(resources.map(({ coresUsed }) => coresUsed)) }),
    ...(counts.length > 0 && { processes: Math.max(...counts) }),
    rounds: used.map(({ round, ratio }) => ({ round, speedUp: ratio })),
  };
}

function scaleFigure(figure: Figure, factor: number): Figure {
  const { median: middle, least, most } = figure;
  return { ...figure, median: middle * factor, least: least * factor, most: most * factor };
}

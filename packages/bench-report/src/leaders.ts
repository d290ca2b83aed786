/** The best rows of a place by one metric: one rule for every format. */
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import { placeOf, usualMetric, type Place } from 'bench-model/planned';
import type { Model, ModelFigure, ModelRow } from './model/definition.ts';

/** Returns the metric that answers come from: that of a sequential test, else that of its load, else the first measured one. */
export function decidingMetric({ plan, rows }: Pick<Model, 'plan' | 'rows'>): MetricId {
  const isMeasured = (id: MetricId): boolean => rows.some(({ figures }) => isKnown(figures[id]));
  const wanted: MetricId[] = [plan.sequentialTest?.by ?? usualMetric(plan), ...METRIC_IDS];
  return wanted.find(isMeasured) ?? 'goodput';
}

/** True for a figure that is valid, or in doubt by a known share. */
export function isKnown(figure: ModelFigure | undefined): boolean {
  return figure?.valid === true || figure?.within !== undefined;
}

/** True for a figure that is known, or a lower bound. */
export function isUsable(figure: ModelFigure | undefined): figure is ModelFigure {
  return isKnown(figure) || figure?.atLeast === true;
}

/** A row with its figure of the metric. */
export interface Placed {
  row: ModelRow;
  figure: ModelFigure;
}

/** The outcome at a place. */
export interface Standing extends Place {
  /** All rows with a usable figure, the best median first. */
  placed: Placed[];
  /** The reason why no row is the best; absent if at least one is. */
  obstacle?: Obstacle;
  /**
   * The rows that share the first rank: none is distinguished from a better one. After a single round, the one with the
   * best median. Empty if there is an obstacle.
   */
  best: Placed[];
  /** Those of them that are named the best: none is much worse than the first. */
  near: Placed[];
  /** True if no row has a rank. */
  isUnranked: boolean;
}

/** A reason for naming no best row: no figure is usable, no other one is, a lower bound may hide a better one, or a row has no rank. */
export type Obstacle = { kind: 'none' | 'alone' } | { kind: 'bound' | 'no-rank'; row: ModelRow };

/** A row that is more than this many times worse than the first is not named the best beside it. */
const NEAR = 1.2;

/** A row that answers less than this share of the requests that another one does is not the best, however little each costs. */
const LEAST_ANSWERED = 0.1;

/** A row without a rank that is this many times worse than the best is not the best itself. */
const FAR_WORSE = 2;

/**
 * Finds the best rows of one place by the ranks, which come from the comparison of all its rows. A rival whose figure is a lower
 * bound could be better than all others, and so could one without a rank, unless it is far worse: then no row is the best.
 */
export function findStanding(rows: readonly ModelRow[], metric: MetricId): Standing {
  const sign = METRICS[metric].better === 'lower' ? 1 : -1;
  const most = Math.max(...rows.map(goodputOf).filter(Number.isFinite));
  const placed = rows
    .flatMap((row): Placed[] => {
      const figure = row.figures[metric];
      return isUsable(figure) && goodputOf(row) >= LEAST_ANSWERED * most ? [{ row, figure }] : [];
    })
    .toSorted((a, b) => sign * (a.figure.median - b.figure.median));
  const isUnranked = rows.every(({ figures }) => figures[metric]?.rank === undefined);
  const obstacle = findObstacle(rows, placed, { metric, isUnranked });
  const first = isUnranked ? placed.slice(0, 1) : placed.filter(({ figure }) => figure.rank === 1);
  const best = obstacle === undefined ? first : [];
  const least = placed[0]?.figure.median ?? 0;
  return {
    ...placeOf(rows[0] ?? { connections: 0 }),
    placed,
    isUnranked,
    best,
    near: best.filter(({ figure: { median } }) => Math.max(median / least, least / median) <= NEAR),
    ...(obstacle && { obstacle }),
  };
}

function goodputOf({ figures: { goodput } }: ModelRow): number {
  return goodput?.median ?? Infinity;
}

function findObstacle(
  rows: readonly ModelRow[],
  placed: readonly Placed[],
  { metric, isUnranked }: { metric: MetricId; isUnranked: boolean },
): Obstacle | undefined {
  if (placed.length === 0) return { kind: 'none' };
  const bound = placed.find(({ figure }) => figure.atLeast);
  if (bound !== undefined) return { kind: 'bound', row: bound.row };
  if (placed.length === 1 && rows.length > 1) return { kind: 'alone' };
  if (isUnranked) {
    const doubtful = findDoubtful(placed);
    if (doubtful !== undefined) return { kind: 'no-rank', row: doubtful.row };
    const [row] = rows.toSorted((a, b) => countValid(a, metric) - countValid(b, metric));
    return row === undefined || row.rounds < FEWEST_WITH_SPREAD ? undefined : { kind: 'no-rank', row };
  }
  const best = placed[0]?.figure.median ?? 0;
  const isFar = ({ figure: { median } }: Placed): boolean =>
    Math.max(best / median, median / best) >= FAR_WORSE;
  const far = new Set(placed.filter(isFar).map(({ row }) => row));
  const row = rows.find((one) => one.figures[metric]?.rank === undefined && !far.has(one));
  return row && { kind: 'no-rank', row };
}

/** Returns a row whose figure is in doubt by so much that the first is not surely better, or worse, than another. */
function findDoubtful([first, ...others]: readonly Placed[]): Placed | undefined {
  if (first === undefined) return undefined;
  const apart = ({ figure: { median, within = 0 } }: Placed): boolean =>
    Math.abs(Math.log(median / first.figure.median)) >=
    Math.log1p(within) + Math.log1p(first.figure.within ?? 0);
  const rival = others.find((other) => !apart(other));
  return rival !== undefined && first.figure.within !== undefined ? first : rival;
}

function countValid({ figures }: ModelRow, metric: MetricId): number {
  const { rounds = 0, valid = false } = figures[metric] ?? {};
  return valid ? rounds : 0;
}

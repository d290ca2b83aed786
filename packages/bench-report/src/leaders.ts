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
  /**
   * The rows that share the first rank: none is distinguished from a better one. After a single round, the one with the
   * best median. Empty if a row could be better than all that have a figure.
   */
  best: Placed[];
  /** Those of them that are named the best: none is much worse than the first. */
  near: Placed[];
  /** True if no row has a rank. */
  isUnranked: boolean;
}

/** A row that is more than this many times worse than the first is not named the best beside it. */
const NEAR = 1.2;

/** A row that answers less than this share of the requests that another one does is not the best, however little each costs. */
const LEAST_ANSWERED = 0.1;

/** A row without a rank that is this many times worse than the best is not the best itself. */
const FAR_WORSE = 2;

/** Finds the best rows of one place by the ranks, which come from the comparison of all its rows. */
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
  const first = isUnranked ? placed.slice(0, 1) : placed.filter(({ figure }) => figure.rank === 1);
  const isKnownBest = isUnranked ? isFirstOfFew(rows, placed) : areOthersWorse(rows, placed, metric);
  // A lower bound could hide a better figure, and a row needs a rival with a figure.
  const isOpen = placed.some(({ figure }) => figure.atLeast) || placed.length < Math.min(2, rows.length);
  const best = isKnownBest && !isOpen ? first : [];
  return {
    ...placeOf(rows[0] ?? { connections: 0 }),
    placed,
    isUnranked,
    best,
    near: best.filter((one) => timesWorse(one, placed) <= NEAR),
  };
}

function goodputOf({ figures: { goodput } }: ModelRow): number {
  return goodput?.median ?? Infinity;
}

/** How many times the median of a row is worse than the best one. */
function timesWorse({ figure: { median } }: Placed, [first]: readonly Placed[]): number {
  const best = first?.figure.median ?? 0;
  return Math.max(median / best, best / median);
}

/** Returns true if too few rounds for ranks still show a first: no other figure is in doubt by so much that it could be better. */
function isFirstOfFew(rows: readonly ModelRow[], [first, ...others]: readonly Placed[]): boolean {
  if (first === undefined || rows.some(({ rounds }) => rounds >= FEWEST_WITH_SPREAD)) return false;
  const doubtOf = ({ figure: { within = 0 } }: Placed): number => Math.log1p(within);
  return others.every((other) => {
    const apart = Math.abs(Math.log(other.figure.median / first.figure.median));
    return apart >= doubtOf(other) + doubtOf(first);
  });
}

/** Returns true if each row without a rank is far worse than the best. */
function areOthersWorse(rows: readonly ModelRow[], placed: readonly Placed[], metric: MetricId): boolean {
  const far = placed.filter((one) => timesWorse(one, placed) >= FAR_WORSE).map(({ row }) => row);
  return rows.every((row) => row.figures[metric]?.rank !== undefined || far.includes(row));
}

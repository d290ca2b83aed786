import { measuredOf, seenOf } from 'bench-model/trial';
import { countAnswers, countCompletions } from 'bench-model/counts';
import { METRIC_IDS, METRICS, type Metric, type MetricId } from 'bench-model/metrics';
import type { Limit } from 'bench-model/measured';
import type { LoadResult } from 'bench-model/load';
import { present } from 'bench-model/options';
import { changeWithin, type Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import type { StackClass } from 'bench-model/target';
import { gainPerAnswer, memoryByAnswers } from 'bench-statistics/growth';
import { median, sum } from 'bench-statistics/numbers';
import type { Interval } from 'bench-model/interval';
import { type Cell, groupByCell } from './cells.ts';
import { exactly, locateWithin } from './differences.ts';
import { medianInterval } from 'bench-statistics/median-interval';
import { capacitiesOf, keptPromise } from './capacities.ts';
import { boundFigure, figureOf, type TrialFigure } from './metrics.ts';

/** The error of an interval. */
const ERROR = 0.05;

/** One metric over the rounds of a target at a rung. */
export interface Figure {
  /** The middle of the rounds: their median, or what the metric takes for it. */
  median: number;
  /** The range of the rounds; where the middle is no median, its interval, or the middle without one. */
  least: number;
  most: number;
  rounds: number;
  /** True if the median is a lower bound. */
  atLeast: boolean;
  /** False if a reason invalidates it in every round: shown, but never ranked. */
  valid: boolean;
  /** The share by which it can change, at most; absent if it is valid, and if its reasons leave it to say little. */
  within?: number;
  /** The 95 % confidence interval of the median; absent below six rounds, and if the figure is invalid or a lower bound. */
  interval?: Interval;
}

/** A target at a place, over all its rounds. */
export interface Row extends Cell {
  class: StackClass | 'unknown';
  rounds: number;
  statuses: Record<Trial['status'], number>;
  /** The share of correct responses among all requests completed in its windows, failed trials included. */
  right?: number;
  /** The responses whose bytes were all compared; for the others, status and length were. Absent if the engine does not report it. */
  checked?: { bodies: number; answers: number };
  figures: Partial<Record<MetricId, Figure>>;
  /** The memory that the server gained for each response, in bytes; only of one of several requests, and absent if it is not known. */
  growth?: Figure;
  /** Medians of the time that the server reported and of the rest of the latency, in µs; absent if it reported none. */
  timing?: { metric: string; told: Figure; rest: Figure };
  /** The limits in its rounds, the most frequent first. */
  limits: Limit[];
  reasons: { reason: Reason; rounds: number }[];
}

/**
 * Summarises trials as one row per target and place, sorted by rung, by request if several targets are measured with it, and
 * then by CPU per request (lowest first, rows without a valid one last). A figure is the median of its valid rounds, or of all rounds if none is valid.
 */
export function summarise(trials: Trial[]): Row[] {
  const isAlone = new Set(trials.map(({ target }) => target.id)).size < 2;
  const byRoute = (a: Row, b: Row): number => (isAlone ? 0 : (a.route ?? '').localeCompare(b.route ?? ''));
  return [...groupByCell(trials).values()]
    .map(toRow)
    .toSorted((a, b) => a.connections - b.connections || byRoute(a, b) || byCost(a, b));
}

function toRow(trials: Trial[]): Row {
  const [first] = trials as [Trial];
  const statuses = { ok: 0, suspect: 0, failed: 0 };
  for (const { status } of trials) statuses[status]++;
  const capacities = capacitiesOf(trials);
  const kept = trials.filter(keptPromise);
  // Beside a capacity stand the figures of loads that kept its promise.
  const shown = kept.length === 0 ? trials : kept;
  const figures = METRIC_IDS.flatMap((id) => {
    const figure =
      id === 'capacity' ? toFigure(trials, METRICS[id], capacities) : toFigure(shown, METRICS[id]);
    return figure === undefined ? [] : [[id, figure] as const];
  });
  const reasons = Map.groupBy(
    trials.flatMap((trial) => trial.reasons),
    ({ code }) => code,
  );
  return {
    target: first.target.id,
    class: first.target.class,
    connections: first.connections,
    route: first.route,
    rounds: trials.length,
    statuses,
    right: toRight(trials),
    checked: toChecked(trials),
    figures: Object.fromEntries(figures),
    growth: first.route === undefined ? undefined : toFigure(trials, GROWTH),
    timing: toTiming(trials),
    limits: byFrequency(shown.flatMap((trial) => measuredOf(trial)?.limit ?? [])),
    reasons: [...reasons.values()].map((same) => ({ reason: same[0] as Reason, rounds: same.length })),
  };
}

function loadsOf(trials: Trial[]): LoadResult[] {
  return trials.flatMap((trial) => seenOf(trial)?.load ?? []);
}

function toRight(trials: Trial[]): number | undefined {
  const counts = loadsOf(trials).map((load) => load.counts);
  const ended = sum(counts.map(countCompletions));
  return ended === 0 ? undefined : sum(counts.map(({ ok }) => ok)) / ended;
}

function toChecked(trials: Trial[]): Row['checked'] {
  const reported = loadsOf(trials).flatMap(({ lifetime, bodiesHashed: bodies }) =>
    lifetime === undefined || bodies === undefined ? [] : [{ bodies, answers: countAnswers(lifetime) }],
  );
  if (reported.length === 0) return undefined;
  return {
    bodies: sum(reported.map(({ bodies }) => bodies)),
    answers: sum(reported.map(({ answers }) => answers)),
  };
}

/** No metric: the ratio of two gains says nothing. */
const GROWTH: Metric = { ...METRICS.memory, from: (measured) => gainPerAnswer(memoryByAnswers(measured)) };

/** Splits the median latency; a reason that invalidates it invalidates its parts. */
function toTiming(trials: Trial[]): Row['timing'] {
  const timings = trials.flatMap((trial) => measuredOf(trial)?.load.timing ?? []);
  const told = toFigure(trials, { ...METRICS.p50, from: ({ load }) => load.timing?.toldUs.p50 });
  const rest = toFigure(trials, { ...METRICS.p50, from: ({ load }) => load.timing?.restUs.p50 });
  const [first] = timings;
  return first && told && rest && { metric: first.metric, told, rest };
}

/** `pooled` has the figures that all trials tell together. */
function toFigure(trials: Trial[], metric: Metric, pooled?: ReadonlyMap<Trial, number>): Figure | undefined {
  const all = trials.flatMap((trial): TrialFigure | [] => {
    const value = pooled?.get(trial);
    return value === undefined ? (figureOf(trial, metric) ?? []) : { value, valid: true, atLeast: false };
  });
  const isSound = all.some(({ valid }) => valid);
  // Lower bounds count with the valid figures: without them, the median would be biased towards slow rounds.
  const used = all.filter(({ valid, atLeast }) => !isSound || valid || atLeast);
  const values = used.map(({ value }) => value).toSorted((a, b) => a - b);
  const [least] = values;
  if (least === undefined) return undefined;
  const upperMiddle = values[values.length >> 1] as number;
  const bounds = used.filter(({ value, atLeast }) => atLeast && value <= upperMiddle);
  const within = isSound ? undefined : boundChange(trials, metric);
  const isExact = used.every(({ valid, atLeast }) => valid && !atLeast);
  const { interval, ...middle } =
    metric.middle === undefined
      ? { median: median(values), least, most: values.at(-1)!, interval: medianInterval(values) }
      : centreOf(values);
  return {
    ...middle,
    rounds: used.length,
    atLeast: bounds.length > 0,
    valid: isSound && bounds.every(({ valid }) => valid),
    ...present({ within }),
    ...(isExact && interval && { interval }),
  };
}

/** The middle of values, their range and the interval of the middle. */
type Middle = Pick<Figure, 'median' | 'least' | 'most'> & { interval: Interval | undefined };

/**
 * The error of the curve that gives a capacity, as a log ratio: a queue has not quite its shape, in all rounds alike. Of 200
 * simulated runs, the intervals of the rounds alone hold in 81 %, and with it in 98 % (bench-lab/experiments/capacity).
 */
const CURVE_ERROR = 0.02;

/** Returns the Hodges-Lehmann estimate of the logarithms of values, as comparisons do. */
function centreOf(values: readonly number[]): Middle {
  const { centre, interval } = locateWithin(exactly(values.map(Math.log)), ERROR);
  const [low, high] = interval
    ? [interval.low - CURVE_ERROR, interval.high + CURVE_ERROR].map(Math.exp)
    : [centre, centre].map(Math.exp);
  const range = { low: low as number, high: high as number };
  return { median: Math.exp(centre), least: range.low, most: range.high, interval: interval && range };
}

/** Returns the share by which the figures of these trials can change, at most; undefined if one of them says little. */
function boundChange(trials: Trial[], metric: Metric): number | undefined {
  const changes = trials.flatMap((trial) => {
    const figure = boundFigure(trial, metric);
    if (figure === undefined) return [];
    const { value, low, high } = figure;
    return changeWithin({ low: low / value, high: high / value }) ?? Infinity;
  });
  const most = Math.max(...changes);
  return most < Infinity ? most : undefined;
}

/** Returns the distinct limits, the most frequent first. */
export function byFrequency(limits: Limit[]): Limit[] {
  const groups = [...Map.groupBy(limits, (limit) => limit).values()];
  return groups.toSorted((a, b) => b.length - a.length).map(([limit]) => limit as Limit);
}

function byCost(a: Row, b: Row): number {
  const isValid = ({ figures: { cpu } }: Row) => cpu?.valid === true;
  const cost = ({ figures: { cpu } }: Row) => cpu?.median ?? Infinity;
  const difference = cost(a) - cost(b);
  return (
    Number(isValid(b)) - Number(isValid(a)) ||
    (Number.isNaN(difference) ? a.target.localeCompare(b.target) : difference)
  );
}

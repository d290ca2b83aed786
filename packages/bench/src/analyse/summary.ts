import { countAnswers, countCompletions } from '../counts.ts';
import { METRIC_IDS, METRICS, type Metric, type MetricId } from '../metrics.ts';
import type { Limit, LoadResult, Reason, StackClass, Trial } from '../model.ts';
import { figureOf } from './metrics.ts';
import { median } from './quantiles.ts';

/** One metric over the rounds of a target at a rung. */
export interface Figure {
  median: number;
  least: number;
  most: number;
  rounds: number;
  /** Whether the median is a lower bound. */
  atLeast: boolean;
  /** False when a reason spoils it in every round: shown, never ranked. */
  valid: boolean;
}

/** A target at a rung, over all its rounds. */
export interface Row {
  target: string;
  class: StackClass | 'unknown';
  connections: number;
  rounds: number;
  statuses: Record<Trial['status'], number>;
  /** Of all requests that came to an end in its windows, those of failed trials too, the share with a right answer. */
  right?: number;
  /** Of its answers, those whose every byte was checked; of the others status and length. Absent where the engine does not tell. */
  checked?: { bodies: number; answers: number };
  figures: Partial<Record<MetricId, Figure>>;
  /** Medians of what the server told of its time and of the latency without it, in µs; absent where it told nothing. */
  timing?: { metric: string; told: Figure; rest: Figure };
  /** The limits seen in its rounds, the most frequent first. */
  limits: Limit[];
  reasons: { reason: Reason; rounds: number }[];
}

/**
 * One row for each target and rung, by rung and then by CPU per request (cheapest first, rows without
 * one last). A figure is the median of the rounds in which it is valid, or of all when it is in none.
 */
export function summarise(trials: Trial[]): Row[] {
  const groups = Map.groupBy(trials, ({ target, connections }) => `${connections} ${target.id}`);
  return [...groups.values()].map(toRow).toSorted(byRungAndCost);
}

function toRow(trials: Trial[]): Row {
  const [first] = trials as [Trial];
  const statuses = { ok: 0, suspect: 0, failed: 0 };
  for (const { status } of trials) statuses[status]++;
  const figures = METRIC_IDS.flatMap((id) => {
    const figure = toFigure(trials, METRICS[id]);
    return figure === undefined ? [] : [[id, figure] as const];
  });
  const timing = toTiming(trials);
  const right = toRight(trials);
  const checked = toChecked(trials);
  const reasons = Map.groupBy(
    trials.flatMap((trial) => trial.reasons),
    ({ code }) => code,
  );
  return {
    target: first.target.id,
    class: first.target.class,
    connections: first.connections,
    rounds: trials.length,
    statuses,
    ...(right === undefined ? {} : { right }),
    ...(checked === undefined ? {} : { checked }),
    figures: Object.fromEntries(figures),
    ...(timing === undefined ? {} : { timing }),
    limits: byFrequency(trials.flatMap((trial) => (trial.status === 'failed' ? [] : [trial.measured.limit]))),
    reasons: [...reasons.values()].map((same) => ({ reason: same[0] as Reason, rounds: same.length })),
  };
}

function loadsOf(trials: Trial[]): LoadResult[] {
  return trials.flatMap(
    (trial) => (trial.status === 'failed' ? trial.partial?.load : trial.measured.load) ?? [],
  );
}

function toRight(trials: Trial[]): number | undefined {
  const counts = loadsOf(trials).map((load) => load.counts);
  const ended = counts.reduce((sum, one) => sum + countCompletions(one), 0);
  return ended === 0 ? undefined : counts.reduce((sum, { ok }) => sum + ok, 0) / ended;
}

function toChecked(trials: Trial[]): Row['checked'] {
  const told = loadsOf(trials).flatMap(({ lifetime, bodiesHashed: bodies }) =>
    lifetime === undefined || bodies === undefined ? [] : [{ bodies, answers: countAnswers(lifetime) }],
  );
  if (told.length === 0) return undefined;
  return {
    bodies: told.reduce((sum, { bodies }) => sum + bodies, 0),
    answers: told.reduce((sum, { answers }) => sum + answers, 0),
  };
}

/** Parts of the median latency: what spoils that spoils them. */
function toTiming(trials: Trial[]): Row['timing'] {
  const timings = trials.flatMap((trial) =>
    trial.status === 'failed' ? [] : (trial.measured.load.timing ?? []),
  );
  const told = toFigure(trials, { ...METRICS.p50, from: ({ load }) => load.timing?.toldUs.p50 });
  const rest = toFigure(trials, { ...METRICS.p50, from: ({ load }) => load.timing?.restUs.p50 });
  const [first] = timings;
  return first && told && rest && { metric: first.metric, told, rest };
}

function toFigure(trials: Trial[], metric: Metric): Figure | undefined {
  const all = trials.flatMap((trial) => figureOf(trial, metric) ?? []);
  const isSound = all.some(({ valid }) => valid);
  // Lower bounds stay beside the valid ones: without them the median would lean to the rounds that were slow enough.
  const used = all.filter(({ valid, atLeast }) => !isSound || valid || atLeast);
  const values = used.map(({ value }) => value).toSorted((a, b) => a - b);
  const [least] = values;
  if (least === undefined) return undefined;
  const upperMiddle = values[values.length >> 1] as number;
  const bounds = used.filter(({ value, atLeast }) => atLeast && value <= upperMiddle);
  return {
    median: median(values),
    least,
    most: values.at(-1) as number,
    rounds: used.length,
    atLeast: bounds.length > 0,
    valid: isSound && bounds.every(({ valid }) => valid),
  };
}

function byFrequency(limits: Limit[]): Limit[] {
  const groups = [...Map.groupBy(limits, (limit) => limit).values()];
  return groups.toSorted((a, b) => b.length - a.length).map(([limit]) => limit as Limit);
}

function byRungAndCost(a: Row, b: Row): number {
  const cost = ({ figures: { cpu } }: Row) => (cpu?.valid === true ? cpu.median : Infinity);
  const difference = cost(a) - cost(b);
  return (
    a.connections - b.connections ||
    (Number.isNaN(difference) ? a.target.localeCompare(b.target) : difference)
  );
}

import type * as Plot from '@observablehq/plot';
import type { MetricId } from '../src/metrics.ts';
import { describeConnections, FORMATS, formatWhole } from '../src/report/format.ts';
import type { Page, PageRow } from '../src/report/html/data.ts';
import { METRICS } from '../src/metrics.ts';
import type { Choice } from './address.ts';
import type { Content } from './elements.ts';
import type { Look } from './series.ts';

/** What a section is made from. */
export interface Context {
  page: Page;
  /** The rows that pass the filters. */
  rows: PageRow[];
  metric: MetricId;
  choice: Choice;
  looks: Map<string, Look>;
  /** Changes the choice and shows the page again. */
  choose: (change: Partial<Choice>) => void;
}

/** A part of the page. It is left out if `build` returns nothing. */
export interface Section {
  id: string;
  title: string;
  build: (context: Context) => Content;
}

/** `1,000 connections`. */
export function nameRung(connections: number): string {
  return describeConnections([connections]);
}

/** `fastify at 1,000`. */
export function nameRow({ target, connections }: Pick<PageRow, 'target' | 'connections'>): string {
  return `${target} at ${formatWhole(connections)}`;
}

/** Writes a value of a metric with its unit. */
export function writeValue(id: MetricId, value: number): string {
  return FORMATS[METRICS[id].unit](value);
}

/** Groups rows by rung, in ascending order. */
export function byRung(rows: PageRow[]): [number, PageRow[]][] {
  return [...Map.groupBy(rows, ({ connections }) => connections)].toSorted(([a], [b]) => a - b);
}

/** Returns the looks of the targets of these rows, in the order of the page. */
export function looksOf(rows: PageRow[], looks: Context['looks']): Look[] {
  const targets = new Set(rows.map(({ target }) => target));
  return [...looks.values()].filter(({ name }) => targets.has(name));
}

/** Writes a value beside an axis: without zeros after the point. */
export function tickText(id: MetricId, value: number): string {
  return value === 0 ? '0' : writeValue(id, value).replace(/\.0+(?=\s|$)/, '');
}

/** A linear axis from 0 to the largest value: its ticks are round in the unit of the metric. */
export function axisFrom0(
  id: MetricId,
  values: readonly number[],
  pixels: number,
): Pick<Plot.ScaleOptions, 'domain' | 'ticks' | 'grid' | 'label'> & {
  tickFormat: (value: number) => string;
} {
  const most = Math.max(0, ...values);
  const unit = METRICS[id].unit === 'bytes' ? 2 ** 20 : 1;
  const rough = most / unit / Math.max(2, Math.floor(pixels / 60));
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = unit * power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const ticks = Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
  return {
    domain: [0, ticks.at(-1) || 1],
    ticks,
    grid: true,
    label: null,
    tickFormat: (value) => tickText(id, value),
  };
}

/** More series in one chart are hard to distinguish. */
const MANY = 8;

/** Advises to filter if a chart has many series. */
export function adviseFilter(rows: PageRow[]): string {
  const targets = new Set(rows.map(({ target }) => target));
  return targets.size > MANY
    ? ` ${targets.size} targets are many for one chart: filter to compare a few.`
    : '';
}

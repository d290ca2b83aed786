/** The axes of charts, and the texts beside them. Needs no DOM: the pictures of the documents share it. */
import type * as Plot from '@observablehq/plot';
import type { TrialFigure } from 'bench-analysis/metrics';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { countOf, FORMATS } from '../src/format.ts';

/** Writes a value of a metric with its unit. */
export function writeValue(id: MetricId, value: number): string {
  return FORMATS[METRICS[id].unit](value);
}

/** Writes the figure of one trial with its mark. */
export function writeTrial(id: MetricId, figure: TrialFigure | undefined): string {
  if (figure === undefined) return '—';
  const { value, atLeast, valid } = figure;
  return `${atLeast ? '≥ ' : ''}${writeValue(id, value)}${valid || atLeast ? '' : ' ?'}`;
}

/** `8 rounds`, or `2 to 3 rounds`: those that count in what a chart shows. */
export function tellRounds(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${least === most ? '' : `${least} to `}${countOf(most, 'round')}`;
}

/** A letter of the charts takes at most this much on average, in pixels: they have no font of equal widths. */
const LETTER = 7.2;

/** Returns the room that the longest of these texts takes on the right of a chart, in pixels. */
export function roomFor(texts: readonly string[]): number {
  return 16 + Math.ceil(LETTER * Math.max(0, ...texts.map(({ length }) => length)));
}

/** A margin for names on the left, and the names shortened to fit. */
export function fitNames(
  names: readonly string[],
  width: number,
): { margin: number; axis: Pick<Plot.ScaleOptions, 'domain' | 'label' | 'tickFormat' | 'tickSize'> } {
  const longest = Math.max(4, ...names.map((name) => name.length));
  const most = Math.max(10, Math.floor((width * 0.4) / LETTER));
  const letters = Math.min(longest, most);
  // The end of a name is what distinguishes it: the runtime.
  const show = (name: string): string =>
    name.length <= letters ? name : `${name.slice(0, 4)}…${name.slice(5 - letters)}`;
  return {
    margin: Math.ceil(letters * LETTER) + 14,
    axis: { domain: names, label: null, tickFormat: show, tickSize: 0 },
  };
}

/** The room around a chart of lines: for the values beside it and the label below. */
export const LINE_MARGINS = { marginLeft: 64, marginRight: 28, marginBottom: 36 };

/** The label in the middle below an axis, without an arrow. */
export function labelBelow(label: string): Pick<Plot.ScaleOptions, 'label' | 'labelAnchor' | 'labelArrow'> {
  return { label, labelAnchor: 'center', labelArrow: false };
}

/** The ticks of a logarithmic axis within a range of values: powers of ten, with 2 and 5 if there are few. */
export function logTicks(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  if (!(most > 0)) return [];
  const steps =
    most / least > 500
      ? [1]
      : most / least > 30
        ? [1, 3]
        : most / least > 3
          ? [1, 2, 5]
          : [1, 1.5, 2, 3, 5, 7];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power++) {
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= least * 0.999 && tick <= most * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** Returns at most `count` evenly spaced ratios between two bounds, 1 among them if it lies there. */
export function ratioTicks(least: number, most: number, count: number): number[] {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((one) => (most - least) / one <= count) ?? 2;
  const first = Math.ceil((least - 1) / step);
  const last = Math.floor((most - 1) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => 1 + (first + index) * step);
}

/** Writes a value beside an axis: without zeros after the point. */
export function tickText(id: MetricId, value: number): string {
  return value === 0 ? '0' : writeValue(id, value).replace(/\.0+(?=\s|$)/, '');
}

/** A logarithmic axis of a metric, with ticks within these values. */
export function logAxis(
  id: MetricId,
  values: readonly number[],
): Pick<Plot.ScaleOptions, 'type' | 'grid' | 'label' | 'ticks'> & { tickFormat: (value: number) => string } {
  return {
    type: 'log',
    grid: true,
    label: null,
    ticks: logTicks(values),
    tickFormat: (value) => tickText(id, value),
  };
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

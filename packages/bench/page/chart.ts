/** Charts by Observable Plot: each has a text that describes it and a table with its values. */
import * as Plot from '@observablehq/plot';
import { element, disclosure, type Content } from './elements.ts';

/** The narrowest plot that stays readable; a narrower screen scrolls. */
const NARROWEST = 280;

/** A chart that is drawn when its width is known. */
export interface Chart {
  title: string;
  /** What it shows, for those who do not see it. */
  description: string;
  draw: (width: number) => Plot.PlotOptions;
  /** Explains symbols and lines. */
  legend?: Content;
  /** The same values as a table. */
  values: HTMLElement;
}

const drawing = new WeakMap<Element, (width: number) => void>();

/** Makes a figure. `drawCharts` draws it once it is part of the page. */
export function chart({ title, description, draw, legend, values }: Chart): HTMLElement {
  const plot = element('div', { class: 'plot', role: 'img', 'aria-label': `${title}. ${description}` });
  drawing.set(plot, (width) => {
    const svg = Plot.plot({ marginTop: 12, ...draw(width), width });
    // The figure has a label: those of its groups, such as "rule", say nothing.
    for (const group of svg.querySelectorAll('[aria-label]')) group.removeAttribute('aria-label');
    plot.replaceChildren(svg);
  });
  return element(
    'figure',
    {},
    element('figcaption', {}, title),
    legend,
    plot,
    disclosure(`Table: ${title}`, values),
  );
}

/** Draws all charts in a part of the page at their current width. */
export function drawCharts(root: ParentNode): void {
  const plots = [...root.querySelectorAll('.plot')];
  // All widths are read before the first chart is drawn, so that the page is laid out once.
  const widths = plots.map((plot) => plot.clientWidth);
  for (const [index, plot] of plots.entries()) drawing.get(plot)?.(Math.max(NARROWEST, widths[index] ?? 0));
}

/** A margin for names on the left, and the names shortened to fit. */
export function fitNames(
  names: readonly string[],
  width: number,
): { margin: number; axis: Pick<Plot.ScaleOptions, 'domain' | 'label' | 'tickFormat' | 'tickSize'> } {
  const perLetter = 6.8;
  const longest = Math.max(4, ...names.map((name) => name.length));
  const most = Math.max(10, Math.floor((width * 0.4) / perLetter));
  const letters = Math.min(longest, most);
  // The end of a name is what distinguishes it: the runtime.
  const show = (name: string): string =>
    name.length <= letters ? name : `${name.slice(0, 4)}…${name.slice(5 - letters)}`;
  return {
    margin: Math.ceil(letters * perLetter) + 14,
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

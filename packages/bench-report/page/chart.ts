/** Charts by Observable Plot: each has a text that describes it and a table with its values. */
import * as Plot from '@observablehq/plot';
import { element, disclosure, type Content } from './elements.ts';

/** The narrowest plot that stays readable; a narrower screen scrolls. */
const NARROWEST = 280;

/** A chart that is drawn when its width is known. */
interface Chart {
  title: string;
  /** A description for readers who do not see the chart. */
  description: string;
  draw: (width: number) => Plot.PlotOptions;
  /** Explains symbols and lines. */
  legend?: Content;
  /** The same values as a table. */
  values: Content;
}

const drawing = new WeakMap<Element, (width: number) => void>();

/** Makes a picture, whose values are a table elsewhere. `drawCharts` draws it once it is part of the page. */
export function picture({
  title,
  description,
  draw,
}: Pick<Chart, 'title' | 'description' | 'draw'>): HTMLElement {
  const plot = element('div', { class: 'plot', role: 'img', 'aria-label': `${title}. ${description}` });
  drawing.set(plot, (width) => {
    const svg = Plot.plot({ marginTop: 12, ...draw(width), width });
    // The figure has a label: those of its groups, such as "rule", say nothing.
    for (const group of svg.querySelectorAll('[aria-label]')) group.removeAttribute('aria-label');
    plot.replaceChildren(svg);
  });
  return plot;
}

/** Makes a figure: a picture with its table. */
export function chart({ legend, values, ...drawn }: Chart): HTMLElement {
  return element(
    'figure',
    {},
    element('figcaption', {}, drawn.title),
    legend,
    picture(drawn),
    disclosure(`Table: ${drawn.title}`, values),
  );
}

/** Draws all charts in a part of the page, by default at their current width. */
export function drawCharts(root: ParentNode, width?: number): void {
  const plots = [...root.querySelectorAll('.plot')];
  // All widths are read before the first chart is drawn, so that the page is laid out once.
  const widths = plots.map((plot) => width ?? plot.clientWidth);
  for (const [index, plot] of plots.entries()) drawing.get(plot)?.(Math.max(NARROWEST, widths[index] ?? 0));
}

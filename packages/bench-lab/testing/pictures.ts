/** The pictures of the documents: charts of published runs as SVG, each in a light and a dark version. */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { axisFrom0, fitNames } from '../../bench-report/page/axes.ts';
import { summarise, type Row } from 'bench-analysis/summary';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { showMetric } from 'bench-report/cells';
import { describeConnections } from 'bench-report/format';
import { describeWorkload } from 'bench-report/plan';
import { describeMachine } from 'bench-report/view';
import type { StoredRun } from 'bench-analysis/results/store';

/** The folder of the pictures, from the root of the repository. */
export const PICTURES = 'docs/pictures';

/** The themes in which a picture is drawn. */
export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** One metric of all targets of a run at one number of connections. */
export interface Picture {
  /** The start of the names of its files. */
  name: string;
  /** The metric and the figures in words, for readers who do not see it. */
  alt: string;
  /** The width at which a document shows it. */
  width: number;
  /** Returns the SVG. */
  draw: (theme: Theme) => string;
}

const WIDTH = 760;
const MARGIN = { top: 44, right: 100, bottom: 72, left: 16 };
/** The width of a character of a figure beside a bar, in px. */
const CHARACTER = 8.5;
const ROW = 34;

/** Plans the picture of a metric, from a run with the trials of one rung. */
export function toPicture(run: StoredRun, id: MetricId): Picture {
  const { label, better } = METRICS[id];
  const rows = summarise(run.trials).filter(({ figures }) => figures[id] !== undefined);
  const rungs = [...new Set(rows.map(({ connections }) => connections))];
  const [connections] = rungs;
  if (connections === undefined || rungs.length > 1)
    throw new Error(`${run.plan.run}: a picture shows one number of connections, with figures of ${id}`);
  const title = `${label} at ${describeConnections([connections])}, ${better} is better`;
  const sorted = rows.toSorted((a, b) => (medianOf(a, id) - medianOf(b, id)) * (better === 'lower' ? 1 : -1));
  return {
    name: `${run.plan.workload}-${id}-at-${connections}`,
    alt: `${title}: ${sorted.map((row) => `${row.target} ${showMetric(id, row)}`).join(', ')}`,
    width: WIDTH,
    draw: (theme) => drawBars(sorted, run, { id, title, theme }),
  };
}

/** Returns the name of the file of a picture in a theme. */
export function fileOf({ name }: Picture, theme: Theme): string {
  return `${name}-${theme}.svg`;
}

/** Returns the picture as HTML that follows the theme of the reader, for the document at `path`. */
export function embedPicture(picture: Picture, path: string): string {
  const source = (theme: Theme): string => relative(dirname(path), `${PICTURES}/${fileOf(picture, theme)}`);
  return [
    '<picture>',
    `  <source media="(prefers-color-scheme: dark)" srcset="${source('dark')}">`,
    `  <img alt="${escape(picture.alt)}" src="${source('light')}" width="${picture.width}">`,
    '</picture>',
  ].join('\n');
}

function medianOf({ figures }: Row, id: MetricId): number {
  return figures[id]?.median ?? 0;
}

function drawBars(
  rows: Row[],
  run: StoredRun,
  { id, title, theme }: { id: MetricId; title: string; theme: Theme },
): string {
  const bars = rows.flatMap((row) => {
    const figure = row.figures[id];
    const isSound = figure?.valid === true && !figure.atLeast;
    return figure === undefined ? [] : [{ ...figure, ...row, name: nameBar(row), isSound }];
  });
  const { margin, axis } = fitNames(
    bars.map(({ name }) => name),
    WIDTH,
  );
  const marginLeft = margin + MARGIN.left;
  const longest = Math.max(...bars.map((row) => showMetric(id, row).length));
  const marginRight = Math.max(MARGIN.right, 20 + CHARACTER * longest);
  const spans = bars.map(({ most }) => most);
  const placed = { frameAnchor: 'bottom-left', textAnchor: 'start', dx: MARGIN.left - marginLeft } as const;
  return drawPlot(theme, {
    width: WIDTH,
    height: MARGIN.top + bars.length * ROW + MARGIN.bottom,
    marginTop: MARGIN.top,
    marginRight,
    marginBottom: MARGIN.bottom,
    marginLeft,
    style: { fontSize: '14px' },
    x: axisFrom0(id, spans, WIDTH - marginLeft - marginRight),
    y: { ...axis, padding: 0.3 },
    marks: [
      Plot.barX(bars, {
        y: 'name',
        x: 'median',
        fill: 'var(--accent)',
        fillOpacity: ({ isSound }: { isSound: boolean }) => (isSound ? 0.85 : 0.3),
      }),
      Plot.ruleY(bars, { y: 'name', x1: 'least', x2: 'most', stroke: 'var(--text)', strokeWidth: 1.5 }),
      Plot.tickX(bars, { y: 'name', x: 'least', inset: 7, stroke: 'var(--text)', strokeWidth: 1.5 }),
      Plot.tickX(bars, { y: 'name', x: 'most', inset: 7, stroke: 'var(--text)', strokeWidth: 1.5 }),
      Plot.text(bars, {
        y: 'name',
        frameAnchor: 'right',
        textAnchor: 'start',
        dx: 10,
        text: (row: Row) => showMetric(id, row),
      }),
      Plot.text([title], { ...placed, frameAnchor: 'top-left', dy: -30, fontSize: 16, fontWeight: 600 }),
      Plot.text([describeRun(run, id)], {
        ...placed,
        dy: 62,
        lineHeight: 1.4,
        fontSize: 12,
        fill: 'var(--faint)',
      }),
    ],
  });
}

/** Draws a chart as an SVG file with the colours of one theme. */
export function drawPlot(theme: Theme, options: Plot.PlotOptions): string {
  const { document } = parseHTML('<!doctype html><html></html>');
  const svg = Plot.plot({ ...options, document }) as {
    outerHTML: string;
    setAttribute: (name: string, value: string) => void;
  };
  // A separate file needs the namespace that a page would imply.
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return toFile(svg.outerHTML, theme);
}

function nameBar(row: Row): string {
  return `${row.target}, ${row.class}`;
}

/** Returns the lines below the chart. */
function describeRun({ plan, host }: StoredRun, id: MetricId): string {
  const marks = describeMarks(plan.rounds, id);
  return [`${marks} Workload ${describeWorkload(plan)}, run ${plan.run}.`, `${describeMachine(host)}.`].join(
    '\n',
  );
}

function describeMarks(rounds: number, id: MetricId): string {
  if (id === 'capacity') return `Bars: capacities over ${rounds} rounds. Lines: their 95 % intervals.`;
  return rounds === 1 ? 'One round.' : `Bars: medians of ${rounds} rounds. Lines: the range of the rounds.`;
}

/** Returns an SVG file with the colours of one theme. */
export function toFile(svg: string, theme: Theme): string {
  const colours = readColours(theme);
  return `${svg
    .replaceAll(/var\(--(?<name>[\w-]+)\)/g, (whole, name: string) => colours.get(name) ?? whole)
    .replaceAll('currentColor', colours.get('text') ?? 'currentColor')}\n`;
}

/** Reads the colours of a theme from the style of the HTML report. */
function readColours(theme: Theme): Map<string, string> {
  const style = readFileSync(new URL('../../bench-report/page/page.css', import.meta.url), 'utf8');
  const pairs = style.matchAll(
    /^ *--(?<name>[\w-]+): light-dark\((?<light>#[\da-f]+), (?<dark>#[\da-f]+)\);$/gm,
  );
  return new Map([...pairs].map(({ groups = {} }) => [groups['name'] ?? '', groups[theme] ?? '']));
}

/** Escapes a text for XML. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

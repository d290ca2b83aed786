/** The pictures of the documents: charts of published runs as SVG, each in a light and a dark version. */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { axisFrom0, roomFor, tellRounds } from '../../bench-report/page/axes.ts';
import { layOutRows, writeBeside } from '../../bench-report/page/bars.ts';
import { summarise, type Row } from 'bench-analysis/summary';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { showMetric } from 'bench-report/cells';
import { describeConnections } from 'bench-report/format';
import { describeWorkload } from 'bench-report/plan';
import { describeMachine } from 'bench-report/view';
import { listAll } from 'bench-report/words';
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

/** The width of a chart, in px. */
export const WIDTH = 760;
/** The room above a chart, on the left of its title, and for each line below it. */
const TOP = 44;
const LEFT = 16;
const LINE = 17;
const ROW = 34;
const AXIS = 24;

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
    draw: (theme) => drawPlot(theme, { title, below: describeRun(run, sorted, id) }, drawBars(sorted, id)),
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

/** `Run 20261130-104535-requests`; of further runs on the same day with the same workload, the time. */
export function nameRuns([first = '', ...others]: readonly string[]): string {
  const alike = new RegExp(`^${first.replace(/-\d+-/, '-(\\d+)-')}$`);
  const names = listAll([first, ...others.map((run) => run.replace(alike, '$1'))]);
  return `Run${others.length > 0 ? 's' : ''} ${names}`;
}

function medianOf({ figures }: Row, id: MetricId): number {
  return figures[id]?.median ?? 0;
}

function drawBars(rows: Row[], id: MetricId): Plot.PlotOptions {
  const bars = rows.flatMap((row) => {
    const figure = row.figures[id];
    const isSound = figure?.valid === true && !figure.atLeast;
    return figure === undefined ? [] : [{ ...figure, ...row, name: `${row.target}, ${row.class}`, isSound }];
  });
  const { room, layout } = layOutRows(
    bars.map(({ name }) => name),
    WIDTH,
    roomFor(bars.map((row) => showMetric(id, row))),
  );
  return {
    ...layout,
    height: bars.length * ROW + AXIS,
    marginBottom: AXIS,
    x: axisFrom0(
      id,
      bars.map(({ most }) => most),
      room,
    ),
    y: { ...layout.y, padding: 0.3 },
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
      writeBeside(bars, 'name', (row) => showMetric(id, row)),
    ],
  };
}

/** The texts around a chart: its title, and the lines below it. */
interface Around {
  title: string;
  below: string[];
}

/** Draws a chart as an SVG file with the colours of one theme. Its height is without these texts. */
export function drawPlot(theme: Theme, { title, below }: Around, chart: Plot.PlotOptions): string {
  const { document } = parseHTML('<!doctype html><html></html>');
  const { height = 0, marginBottom = 0, marginLeft = 0, marks = [] } = chart;
  const bottom = 14 + LINE * below.length;
  const placed = { textAnchor: 'start', dx: -marginLeft } as const;
  const svg = Plot.plot({
    ...chart,
    document,
    style: { fontSize: '13px' },
    width: WIDTH,
    height: TOP + height + bottom,
    marginTop: TOP,
    marginBottom: marginBottom + bottom,
    marginLeft: marginLeft + LEFT,
    marks: [
      ...marks,
      Plot.text([title], { ...placed, frameAnchor: 'top-left', dy: -30, fontSize: 16, fontWeight: 600 }),
      Plot.text([below.join('\n')], {
        ...placed,
        frameAnchor: 'bottom-left',
        dy: marginBottom + bottom - 10,
        lineHeight: 1.4,
        fontSize: 12,
        fill: 'var(--faint)',
      }),
    ],
  }) as {
    outerHTML: string;
    setAttribute: (name: string, value: string) => void;
  };
  // A separate file needs the namespace that a page would imply.
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return toFile(svg.outerHTML, theme);
}

/** Returns the lines below the chart. */
function describeRun({ plan, host }: StoredRun, rows: Row[], id: MetricId): string[] {
  const rounds = tellRounds(rows.flatMap(({ figures }) => figures[id]?.rounds ?? []));
  const marks = rounds === '1 round' ? 'One round.' : describeMarks(rounds, id);
  return [`${marks} Workload ${describeWorkload(plan)}, run ${plan.run}.`, `${describeMachine(host)}.`];
}

function describeMarks(rounds: string, id: MetricId): string {
  return id === 'capacity'
    ? `Bars: capacities over ${rounds}. Lines: their 95 % intervals.`
    : `Bars: medians of ${rounds}. Lines: the range of the rounds.`;
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

import * as Plot from '@observablehq/plot';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { describeStatus, showMetric } from '../../src/cells.ts';
import { findChanges } from '../../src/site/changes.ts';
import { countOf } from '../../src/format.ts';
import type { Site } from '../../src/site/data.ts';
import type { History, HistoryPoint } from '../../src/site/history.ts';
import { axisFrom0, LINE_MARGINS } from '../axes.ts';
import { chart } from '../chart.ts';
import { disclosure, element, table, type Column, type Content } from '../elements.ts';
import type { Shown } from '../frame.ts';
import { nameRung } from '../section.ts';
import { legend, lines, tip, type Dot, type Look } from '../series.ts';

/** A figure of the page, with the properties that it filters by. */
export interface SiteRow extends HistoryPoint {
  machine: string;
  workload: string;
}

const HEIGHT = 260;

/** The room that one date needs beside the next, in pixels. */
const DATE_WIDTH = 90;

/** `2026-11-22 11:24`. */
export function formatTime(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** Shows one chart for each machine, workload and rung that several runs measured. */
export function buildHistories(
  site: Site,
  looks: Map<string, Look>,
  { rows, metric }: Shown<SiteRow>,
): Content {
  const charts = site.histories.flatMap((history) => {
    const own = rows.filter(
      ({ machine, workload, figures }) =>
        machine === history.machine && workload === history.workload && figures[metric] !== undefined,
    );
    const rungs = Map.groupBy(own, ({ connections }) => connections);
    return [...rungs]
      .toSorted(([a], [b]) => a - b)
      .filter(([, all]) => new Set(all.map(({ run }) => run)).size > 1)
      .map(([, all]) => ({ history, all }));
  });
  if (charts.length === 0)
    return element('p', {}, 'No two runs measured the same workload on one machine with these filters.');
  return [
    element(
      'p',
      {},
      `${METRICS[metric].label}: ${METRICS[metric].better} is better. A line joins only runs that can be compared: those with the same setting on the same machine. Every other setting has a separate line.`,
    ),
    element(
      'p',
      { class: 'key' },
      'Thick bar: 95 % confidence interval of the median, thin bar: range of the rounds. Hollow symbol: lower bound or invalid figure. Ring: a check failed that concerns this figure. Dotted line with a number: a version changed. Settings and changes are listed below each chart.',
    ),
    [...Map.groupBy(charts, ({ history }) => history.machine)].map(([machine, all]) => [
      element('h3', {}, machine),
      element(
        'div',
        { class: 'grid' },
        all.map((one) => drawHistory(one.history, one.all, metric, { site, looks })),
      ),
    ]),
  ];
}

/** A point as the chart draws it. */
interface HistoryDot extends Dot {
  low: number;
  high: number;
  isInterval: boolean;
  isDoubtful: boolean;
}

/** The changes before a run, with their number in the chart. */
interface Mark {
  number: number;
  run: string;
  at: number;
  text: string;
}

function drawHistory(
  history: History,
  rows: SiteRow[],
  metric: MetricId,
  { site, looks }: { site: Site; looks: Map<string, Look> },
): Content {
  const [first] = rows as [SiteRow];
  const title = `${METRICS[metric].label} of ${history.workload} at ${nameRung(first.connections)}`;
  // Tables are landmarks, so their names must differ between machines.
  const isAlone = new Set(site.histories.map(({ machine }) => machine)).size === 1;
  const caption = isAlone ? title : `${title}, ${history.machine}`;
  const targets = [...new Set(rows.map(({ target }) => target))];
  const used = targets.flatMap((target) => looks.get(target) ?? []);
  const runs = new Set(rows.map(({ run }) => run));
  const marks = markChanges(history, rows);
  const settings = [...new Set(rows.map(({ setting }) => setting))].toSorted((a, b) => a - b);
  const series = [...Map.groupBy(rows, ({ target, setting }) => `${setting} ${target}`).values()].flatMap(
    (own) => {
      const look = looks.get(own[0]?.target ?? '');
      return look === undefined ? [] : [{ look, dots: own.map((row) => toDot(row, metric)) }];
    },
  );
  return element(
    'div',
    {},
    chart({
      title,
      description: `${targets.length} targets in ${runs.size} runs.`,
      legend: legend(new Map(used.map((look) => [look.name, look]))),
      draw: (width) => drawLines(series, marks, metric, width),
      values: listRows(caption, rows, { metric, site, marks, showsSetting: settings.length > 1 }),
    }),
    explainMarks(history, settings, marks),
  );
}

/** Says what the settings and the numbers of a chart mean. */
function explainMarks(history: History, settings: readonly number[], marks: readonly Mark[]): Content {
  const titles = [
    ...(settings.length > 1 ? [countOf(settings.length, 'setting')] : []),
    ...(marks.length > 0 ? [countOf(marks.length, 'change')] : []),
  ];
  if (titles.length === 0) return undefined;
  return disclosure(
    titles.join(' and '),
    element(
      'ul',
      { class: 'key' },
      settings.length > 1
        ? settings.map((setting) =>
            element('li', {}, `Setting ${setting + 1}: ${describeSetting(history, setting)}`),
          )
        : undefined,
      marks.map(({ number, at, text }) =>
        element('li', {}, `${number}: ${formatTime(new Date(at).toISOString())}: ${text}`),
      ),
    ),
  );
}

function describeSetting({ settings }: History, setting: number): string {
  return setting === 0
    ? 'that of the first run of this workload'
    : `differs from setting 1 in ${(settings[setting] ?? []).join('; ')}`;
}

/** Numbers the changes between the runs of these rows. */
function markChanges({ environments }: History, rows: readonly SiteRow[]): Mark[] {
  const starts = new Map(rows.map(({ run, startedAt }) => [run, startedAt]));
  const shown = environments.filter(({ run }) => starts.has(run));
  return findChanges(shown, new Set(rows.map(({ id }) => id))).map(({ run, texts }, index) => ({
    number: index + 1,
    run,
    at: Date.parse(starts.get(run) ?? ''),
    text: texts.join('; '),
  }));
}

function toDot(row: SiteRow, metric: MetricId): HistoryDot {
  const { target, run, startedAt, figures, doubtful } = row;
  const figure = figures[metric];
  const { median = 0, least = 0, most = 0, interval, valid = false, atLeast = false } = figure ?? {};
  return {
    x: Date.parse(startedAt),
    y: median,
    low: interval?.low ?? least,
    high: interval?.high ?? most,
    isInterval: interval !== undefined,
    isSound: valid && !atLeast,
    isDoubtful: doubtful.includes(metric),
    text: `${target}: ${showMetric(metric, row)}\n${formatTime(startedAt)}, run ${run}`,
  };
}

function drawLines(
  series: readonly { look: Look; dots: HistoryDot[] }[],
  marks: readonly Mark[],
  metric: MetricId,
  width: number,
): Plot.PlotOptions {
  const dots = series.flatMap((one) => one.dots);
  return {
    height: HEIGHT,
    ...LINE_MARGINS,
    marginTop: 24,
    x: {
      type: 'utc',
      label: null,
      ticks: Math.max(2, Math.floor((width - LINE_MARGINS.marginLeft) / DATE_WIDTH)),
    },
    y: axisFrom0(
      metric,
      dots.map(({ high }) => high),
      HEIGHT,
    ),
    marks: [
      Plot.ruleX(marks, { x: 'at', stroke: 'var(--faint)', strokeDasharray: '1 3' }),
      Plot.text(marks, {
        x: 'at',
        text: ({ number }: Mark) => String(number),
        frameAnchor: 'top',
        dy: -14,
        fill: 'var(--faint)',
      }),
      series.map(({ look, dots: own }) =>
        Plot.ruleX(own, {
          x: 'x',
          y1: 'low',
          y2: 'high',
          stroke: look.colour,
          strokeOpacity: 0.6,
          strokeWidth: (dot: HistoryDot) => (dot.isInterval ? 4 : 1.5),
        }),
      ),
      ...lines(series),
      Plot.dot(
        dots.filter(({ isDoubtful }) => isDoubtful),
        { x: 'x', y: 'y', r: 7.5, stroke: 'var(--bad)', strokeWidth: 1.5 },
      ),
      tip(dots),
    ],
  };
}

function listRows(
  caption: string,
  rows: SiteRow[],
  {
    metric,
    site,
    marks,
    showsSetting,
  }: { metric: MetricId; site: Site; marks: readonly Mark[]; showsSetting: boolean },
): HTMLElement {
  const links = new Map(site.runs.map(({ run, href }) => [run, href]));
  const numbers = new Map(marks.map(({ run, number }) => [run, number]));
  const columns: Column<SiteRow>[] = [
    { head: 'target', cell: ({ target }) => target, isText: true },
    { head: 'began (UTC)', cell: ({ startedAt }) => formatTime(startedAt), isText: true },
    { head: METRICS[metric].label, cell: (row) => showMetric(metric, row) },
    { head: 'rounds', cell: ({ rounds }) => String(rounds) },
    { head: 'status', cell: describeStatus, isText: true },
    ...(showsSetting ? [{ head: 'setting', cell: ({ setting }: SiteRow) => String(setting + 1) }] : []),
    ...(marks.length > 0
      ? [{ head: 'change', cell: ({ run }: SiteRow) => String(numbers.get(run) ?? '—') }]
      : []),
    { head: 'run', cell: ({ run }) => element('a', { href: links.get(run) }, run), isText: true },
  ];
  const sorted = rows.toSorted(
    (a, b) => a.target.localeCompare(b.target) || a.startedAt.localeCompare(b.startedAt),
  );
  return table(caption, columns, sorted);
}

import * as Plot from '@observablehq/plot';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { showMetric } from '../src/cells.ts';
import { countOf } from '../src/format.ts';
import { toTable } from '../src/table.ts';
import type { PageRow } from '../src/html/data.ts';
import { axisFrom0, logAxis, roomFor, writeValue } from './axes.ts';
import { layOutRows, writeBeside } from './bars.ts';
import { chart } from './chart.ts';
import { element, tablesOfWords, type Content } from './elements.ts';
import { byPlace, sortRows, type Section } from './section.ts';

/** The meaning of the marks of a picture of ranks. */
export const RANKS_KEY =
  '● median, thick bar: its 95 % interval, thin bar: range of the rounds; ▷ lower bound; ✕ invalid; # rank.';

/** The targets of each rung by one metric. */
export const ranking: Section = {
  id: 'ranking',
  title: 'Ranking',
  build: ({ rows, metric }) => {
    const { label, better } = METRICS[metric];
    return [
      element(
        'p',
        {},
        `By ${label}: ${better} is better. Targets that the rounds do not distinguish share a rank. A target has none if no comparison bounds its difference from another.`,
      ),
      element('p', { class: 'key' }, RANKS_KEY),
      byPlace(rows).map(([place, all]) => showPlace(place, sortRows(all, metric), metric)),
    ];
  },
};

function showPlace(place: string, rows: PageRow[], metric: MetricId): Content {
  const title = `${METRICS[metric].label} at ${place}`;
  const shown = toTable(rows, metric);
  const groups = shown.groups.map((group) => ({ ...group, heading: title }));
  const measured = rows.filter(({ figures }) => figures[metric] !== undefined);
  const [first] = measured;
  return chart({
    title,
    description:
      first === undefined
        ? 'No target has a figure.'
        : `${countOf(measured.length, 'target')}; the first is ${first.target} with ${showMetric(metric, first)}.`,
    draw: (width) => drawRanks(measured, metric, width),
    values: tablesOfWords({ ...shown, groups }),
  });
}

/** Draws the targets of one place by a metric. */
export function drawRanks(
  rows: readonly Pick<PageRow, 'target' | 'figures'>[],
  id: MetricId,
  width: number,
): Plot.PlotOptions {
  const points = rows.flatMap(({ target, figures }) => {
    const figure = figures[id];
    if (figure === undefined) return [];
    const { rank } = figure;
    return [
      {
        ...figure,
        target,
        text: `${writeValue(id, figure.median)}${rank === undefined ? '' : `  #${rank}`}`,
      },
    ];
  });
  const spans = points.flatMap(({ least, most }) => [least, most]).filter((value) => value > 0);
  const isWide = Math.max(...spans) / Math.min(...spans) > 30;
  const { room, layout } = layOutRows(
    rows.map(({ target }) => target),
    width,
    roomFor(points.map(({ text }) => text)),
  );
  return {
    ...layout,
    x: isWide ? { nice: true, ...logAxis(id, spans) } : axisFrom0(id, spans, room),
    marks: [
      Plot.ruleY(points, {
        y: 'target',
        x1: 'least',
        x2: 'most',
        stroke: 'var(--accent)',
        strokeOpacity: 0.7,
      }),
      Plot.ruleY(
        points.flatMap(({ target, interval }) => (interval === undefined ? [] : [{ target, ...interval }])),
        { y: 'target', x1: 'low', x2: 'high', stroke: 'var(--accent)', strokeWidth: 5, strokeOpacity: 0.45 },
      ),
      Plot.dot(
        points.filter(({ valid, atLeast }) => valid && !atLeast),
        { y: 'target', x: 'median', r: 4.5, fill: 'var(--accent)' },
      ),
      Plot.dot(
        points.filter(({ atLeast }) => atLeast),
        {
          y: 'target',
          x: 'median',
          r: 5,
          symbol: 'triangle',
          rotate: 90,
          stroke: 'var(--accent)',
          fill: 'var(--page)',
        },
      ),
      Plot.dot(
        points.filter(({ valid, atLeast }) => !valid && !atLeast),
        { y: 'target', x: 'median', r: 4.5, symbol: 'times', stroke: 'var(--bad)', strokeWidth: 2 },
      ),
      writeBeside(points, 'target', ({ text }) => text),
    ],
  };
}

import { METRICS, type MetricId } from 'bench-model/metrics';
import { showLimit, showMetric } from '../src/cells.ts';
import { countOf, describeConnections, formatWhole, nameTarget } from '../src/format.ts';
import type { PageRow } from '../src/html/data.ts';
import { axisFrom0, labelBelow, LINE_MARGINS, logAxis } from './axes.ts';
import { chart } from './chart.ts';
import { element, table, type Content } from './elements.ts';
import { explainFaint, looksOf, type Context, type Section } from './section.ts';
import { legend, lines, tip, toSeries, type Dot } from './series.ts';

const HEIGHT = 240;
const SHOWN: readonly MetricId[] = ['goodput', 'p50', 'p99', 'cpu', 'memory'];
const LOGARITHMIC: readonly MetricId[] = ['p50', 'p99'];

/** The effect of more connections, for runs of several rungs. */
export const ladders: Section = {
  id: 'ladders',
  title: 'More connections',
  build: (context) => {
    const { rows, metric } = context;
    if (new Set(rows.map(({ connections }) => connections)).size < 2) return undefined;
    return [
      element(
        'p',
        {},
        `Hollow symbols are lower bounds or invalid figures. Connections are on a logarithmic axis.${explainFaint(rows, metric)}`,
      ),
      legend(looksOf(rows, context)),
      element(
        'div',
        { class: 'grid' },
        SHOWN.filter((id) => rows.some(({ figures }) => figures[id] !== undefined)).map((id) =>
          showMetricOverRungs(id, context),
        ),
      ),
    ];
  },
};

function showMetricOverRungs(id: MetricId, context: Context): Content {
  const { rows } = context;
  const looks = looksOf(rows, context);
  const { label, better } = METRICS[id];
  const series = toSeries([...Map.groupBy(rows, nameTarget).values()], looks, {
    name: ([first]) => first?.target ?? '',
    dots: (own) => own.flatMap((row) => toDot(id, row)),
  });
  const dots = series.flatMap((one) => one.dots);
  const heights = dots.map(({ y }) => y);
  const rungs = [...new Set(rows.map(({ connections }) => connections))].toSorted((a, b) => a - b);
  return chart({
    title: `${label} by connections`,
    description: `${countOf(series.length, 'target')} at ${describeConnections(rungs)}; ${better} is better.`,
    draw: () => ({
      height: HEIGHT,
      ...LINE_MARGINS,
      x: {
        type: 'log',
        ticks: rungs,
        tickFormat: formatWhole,
        ...labelBelow('connections'),
      },
      y: LOGARITHMIC.includes(id) ? logAxis(id, heights) : axisFrom0(id, heights, HEIGHT),
      marks: [...lines(series), tip(dots)],
    }),
    values: table(
      `${label} by connections`,
      [
        { head: 'target', cell: nameTarget, isText: true },
        { head: 'connections', cell: ({ connections }) => formatWhole(connections) },
        { head: label, cell: (row) => showMetric(id, row) },
        { head: 'limit', cell: showLimit, isText: true },
      ],
      rows,
    ),
  });
}

function toDot(id: MetricId, row: PageRow): Dot[] {
  const figure = row.figures[id];
  if (figure === undefined) return [];
  return [
    {
      x: row.connections,
      y: figure.median,
      isSound: figure.valid && !figure.atLeast,
      text: `${nameTarget(row)}\n${describeConnections([row.connections])}: ${showMetric(id, row)}`,
    },
  ];
}

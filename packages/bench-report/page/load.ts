import { METRICS } from 'bench-model/metrics';
import { countOf, formatCount, formatWhole } from '../src/format.ts';
import { toCurveView } from '../src/curve.ts';
import type { PageRow } from '../src/html/data.ts';
import { axisFrom0, labelBelow, LINE_MARGINS, logAxis, writeValue } from './axes.ts';
import { chart } from './chart.ts';
import { element, tablesOfWords, type Content } from './elements.ts';
import { byPlace, explainFaint, looksOf, type Context, type Section } from './section.ts';
import { legend, lines, tip, toSeries, type Dot } from './series.ts';

const HEIGHT = 240;
const SHOWN = ['p50', 'p99', 'p99.9', 'cpu'] as const;

/** Latency and CPU over load, for runs with several loads. */
export const load: Section = {
  id: 'load',
  title: 'More load',
  build: (context) => {
    const { rows, metric } = context;
    const drawn = rows.filter(({ curve = [] }) => curve.length > 1);
    if (drawn.length === 0) return undefined;
    return [
      element(
        'p',
        {},
        `Medians of the rounds. Latency is on a logarithmic axis.${explainFaint(drawn, metric)}`,
      ),
      legend(looksOf(drawn, context)),
      byPlace(drawn).map(([place, own]) =>
        element(
          'div',
          { class: 'grid' },
          SHOWN.flatMap((id) => showOverLoad(id, place, { ...context, rows: own })),
        ),
      ),
    ];
  },
};

function showOverLoad(id: (typeof SHOWN)[number], place: string, context: Context): Content[] {
  const { rows } = context;
  const looks = looksOf(rows, context);
  const series = toSeries(rows, looks, { name: ({ target }) => target, dots: (row) => dotsOf(id, row) });
  const dots = series.flatMap((one) => one.dots);
  const heights = dots.map(({ y }) => y);
  if (dots.length === 0) return [];
  const { label } = METRICS[id];
  const title = `${label} by load at ${place}`;
  const shown = toCurveView(rows);
  return [
    chart({
      title,
      description: `${countOf(series.length, 'target')} over requests per second; lower is better.`,
      draw: (width) => ({
        height: HEIGHT,
        ...LINE_MARGINS,
        x: {
          domain: [0, Math.max(...dots.map(({ x }) => x))],
          ticks: width < 500 ? 3 : 6,
          tickFormat: formatWhole,
          ...labelBelow('requests per second'),
        },
        y: id === 'cpu' ? axisFrom0(id, heights, HEIGHT) : logAxis(id, heights),
        marks: [...lines(series), tip(dots)],
      }),
      values: shown && tablesOfWords(shown),
    }),
  ];
}

function dotsOf(id: (typeof SHOWN)[number], { target, curve = [] }: PageRow): Dot[] {
  return curve.flatMap((point) => {
    const y = point[id];
    if (y === undefined) return [];
    const text = `${target} at ${formatCount(point.perSecond)}/s: ${writeValue(id, y)}\nlimit: ${point.limit}`;
    return [{ x: point.perSecond, y, isSound: point.limit !== 'generator', text }];
  });
}

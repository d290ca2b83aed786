import { METRICS } from 'bench-model/metrics';
import { countOf } from '../src/format.ts';
import type { PageRow } from '../src/html/data.ts';
import { axisFrom0, labelBelow, LINE_MARGINS, writeTrial, writeValue } from './axes.ts';
import { chart } from './chart.ts';
import { element, table, type Content } from './elements.ts';
import { byPlace, explainFaint, looksOf, type Context, type Section } from './section.ts';
import { legend, lines, tip, toSeries, type Dot } from './series.ts';

const HEIGHT = 260;

/** Every round, so that the spread and any drift are visible. */
export const rounds: Section = {
  id: 'rounds',
  title: 'Rounds',
  build: (context) => {
    const repeated = context.rows.filter(({ trials }) => trials.length > 1);
    if (repeated.length === 0) return undefined;
    const looks = looksOf(repeated, context);
    return [
      element(
        'p',
        {},
        `One symbol per trial. Hollow symbols are lower bounds or invalid figures.${explainFaint(repeated, context.metric)}`,
      ),
      legend(looks),
      byPlace(repeated).map(([place, rows]) => showPlace(place, rows, { ...context, looks })),
    ];
  },
};

function showPlace(place: string, rows: PageRow[], { metric, looks }: Context): Content {
  const { label } = METRICS[metric];
  const title = `${label} by round at ${place}`;
  const series = toSeries(rows, looks, {
    name: ({ target }) => target,
    dots: ({ target, trials }) =>
      trials.flatMap(({ round, figures, status }): Dot[] => {
        const figure = figures[metric];
        if (figure === undefined) return [];
        const text = `${target}, round ${round}\n${writeValue(metric, figure.value)} (${status})`;
        return [{ x: round, y: figure.value, isSound: figure.valid && !figure.atLeast, text }];
      }),
  });
  const dots = series.flatMap((one) => one.dots);
  const numbers = [...new Set(rows.flatMap(({ trials }) => trials.map(({ round }) => round)))].toSorted(
    (a, b) => a - b,
  );
  return chart({
    title,
    description: `${countOf(series.length, 'target')} in ${countOf(numbers.length, 'round')}.`,
    draw: (width) => ({
      height: HEIGHT,
      ...LINE_MARGINS,
      x: {
        ticks: numbers.filter((_, index) => index % Math.ceil(numbers.length / (width / 40)) === 0),
        tickFormat: String,
        ...labelBelow('round'),
      },
      y: axisFrom0(
        metric,
        dots.map(({ y }) => y),
        HEIGHT,
      ),
      marks: [...lines(series), tip(dots)],
    }),
    values: table(
      title,
      [
        { head: 'target', cell: ({ target }) => target, isText: true },
        ...numbers.map((number) => ({
          head: `round ${number}`,
          cell: ({ trials }: PageRow) =>
            writeTrial(metric, trials.find(({ round }) => round === number)?.figures[metric]),
        })),
      ],
      rows,
    ),
  });
}

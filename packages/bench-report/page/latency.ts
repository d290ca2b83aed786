import { countOf, formatUs, formatWhole } from '../src/format.ts';
import type { PageRow } from '../src/html/data.ts';
import { labelBelow, LINE_MARGINS, logAxis } from './axes.ts';
import { chart } from './chart.ts';
import { element, table, type Content } from './elements.ts';
import { byPlace, explainFaint, looksOf, type Context, type Section } from './section.ts';
import { legend, lines, tip, toSeries, type Dot } from './series.ts';

const PERCENTILES = [50, 90, 99, 99.9, 99.99, 99.999];

/** The latencies of all responses, by percentile. */
export const latency: Section = {
  id: 'latency',
  title: 'Latency',
  build: (context) => {
    const known = context.rows.filter(({ distribution }) => distribution !== undefined);
    if (known.length === 0) return undefined;
    const looks = looksOf(known, context);
    return [
      element(
        'p',
        {},
        `All correct responses of the valid rounds together. Each nine takes the same width, so that the tail is visible. A line ends where fewer than ten responses are slower. Hollow symbols: p99 is invalid in every round.${explainFaint(known, context.metric)}`,
      ),
      legend(looks),
      byPlace(known).map(([place, rows]) => showPlace(place, rows, { ...context, looks })),
    ];
  },
};

/** The position of a percentile: 90 is 1, 99 is 2, 99.9 is 3. */
const placeOf = (percentile: number): number => -Math.log10(1 - percentile / 100);

function toDots({ target, distribution }: PageRow): Dot[] {
  const { points = [], valid = false } = distribution ?? {};
  return (
    points
      // The fastest answer of all says nothing about the others.
      .filter(({ percentile, us }) => percentile > 0 && us > 0)
      .map(({ percentile, us }) => ({
        x: placeOf(percentile),
        y: us,
        isSound: valid,
        text: `${target}\np${percentile}: ${formatUs(us)}`,
      }))
  );
}

function showPlace(place: string, rows: PageRow[], { looks }: Context): Content {
  const title = `Latency by percentile at ${place}`;
  const series = toSeries(rows, looks, { name: ({ target }) => target, dots: toDots });
  const dots = series.flatMap((one) => one.dots);
  const farthest = Math.max(...dots.map(({ x }) => x));
  const ends = new Set(PERCENTILES.map(placeOf).filter((position) => position <= farthest));
  return chart({
    title,
    description: `${countOf(series.length, 'target')}, from the fastest responses to the slowest.`,
    draw: () => ({
      height: 300,
      ...LINE_MARGINS,
      x: {
        ticks: [...ends],
        tickFormat: (nines: number) => String(Number((100 - 100 * 10 ** -nines).toFixed(4))),
        ...labelBelow('percentile of requests'),
        grid: true,
      },
      y: logAxis(
        'p50',
        dots.map(({ y }) => y),
      ),
      marks: [...lines(series, ({ x }) => ends.has(x)), tip(dots)],
    }),
    values: table(
      title,
      [
        { head: 'target', cell: ({ target }) => target, isText: true },
        { head: 'answers', cell: ({ distribution }) => formatWhole(distribution?.answers ?? 0) },
        { head: 'no response', cell: ({ distribution }) => formatWhole(distribution?.unanswered ?? 0) },
        ...PERCENTILES.map((percentile) => ({
          head: `p${percentile}`,
          cell: ({ distribution }: PageRow) => {
            const us = distribution?.points.find((point) => point.percentile === percentile)?.us;
            return us === undefined ? '—' : `${formatUs(us)}${distribution?.valid === true ? '' : ' ?'}`;
          },
        })),
        { head: 'slowest', cell: ({ distribution }) => formatUs(distribution?.maxUs ?? 0) },
      ],
      rows,
    ),
  });
}

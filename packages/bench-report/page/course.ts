import { keyOfPlace } from 'bench-model/planned';
import { countOf, nameCell } from '../src/format.ts';
import type { MetricId } from 'bench-model/metrics';
import type { PageRow } from '../src/html/data.ts';
import { axisFrom0, labelBelow, LINE_MARGINS, writeValue } from './axes.ts';
import { chart } from './chart.ts';
import { element, table, type Content } from './elements.ts';
import type { Section } from './section.ts';
import { giveLooks, legend, lines, tip, toSeries } from './series.ts';

type Moments = NonNullable<PageRow['trials'][number]['goodputOverTime']>;

const HEIGHT = 240;

/** More trials in one chart cannot be distinguished. */
const MOST_TRIALS = 12;

/** Goodput and memory within the windows of one row. */
export const course: Section = {
  id: 'course',
  title: 'Over time',
  build: ({ rows, choice, choose, page }) => {
    const known = rows.filter(({ trials }) =>
      trials.some(({ goodputOverTime, memoryOverTime }) => goodputOverTime ?? memoryOverTime),
    );
    const chosen = known.find((row) => keyOf(row) === choice.row) ?? known[0];
    if (chosen === undefined) return undefined;
    const select = element(
      'select',
      { id: 'row' },
      known.map((row) => element('option', { value: keyOf(row) }, nameCell(row))),
    );
    select.value = keyOf(chosen);
    select.addEventListener('change', () => choose({ row: select.value }));
    return [
      element('p', {}, 'Each line is one trial; the window begins at 0 s.'),
      page.shortened > 0
        ? element('p', {}, `The run has too many trials: ${countOf(page.shortened, 'trial')} without it.`)
        : undefined,
      element('p', {}, element('label', { for: 'row' }, 'Target and connections '), select),
      element(
        'div',
        { class: 'grid' },
        showCourse('Goodput', 'goodput', chosen, ({ goodputOverTime }) => goodputOverTime),
        showCourse('Memory', 'memory', chosen, ({ memoryOverTime }) => memoryOverTime),
      ),
    ];
  },
};

function keyOf(row: PageRow): string {
  return `${keyOfPlace(row)} ${row.target}`;
}

function showCourse(
  name: string,
  id: MetricId,
  row: PageRow,
  read: (trial: PageRow['trials'][number]) => Moments | undefined,
): Content {
  const trials = row.trials
    .flatMap((trial) => {
      const moments = read(trial);
      return moments === undefined ? [] : [{ round: `round ${trial.round}`, moments }];
    })
    .slice(0, MOST_TRIALS);
  if (trials.length === 0) return undefined;
  const looks = giveLooks(trials.map(({ round }) => round));
  const series = toSeries(trials, looks, {
    name: ({ round }) => round,
    dots: ({ round, moments }) =>
      moments.map(({ seconds, value }) => ({
        x: seconds,
        y: value,
        isSound: true,
        text: `${round}, ${seconds.toFixed(2)} s\n${writeValue(id, value)}`,
      })),
  });
  const dots = series.flatMap((one) => one.dots);
  const title = `${name} over time, ${nameCell(row)}`;
  return chart({
    title,
    description: `${countOf(trials.length, 'trial')}.`,
    legend: legend(looks),
    draw: (width) => ({
      height: HEIGHT,
      ...LINE_MARGINS,
      x: {
        zero: true,
        ...labelBelow('seconds'),
        ticks: width < 500 ? 4 : 8,
      },
      y: axisFrom0(
        id,
        dots.map(({ y }) => y),
        HEIGHT,
      ),
      marks: [...lines(series), tip(dots)],
    }),
    values: table(
      title,
      [
        { head: 'round', cell: ({ round }) => round, isText: true },
        {
          head: 's: value',
          cell: ({ moments }) =>
            moments.map(({ seconds, value }) => `${seconds.toFixed(2)}: ${writeValue(id, value)}`).join('; '),
          isText: true,
        },
      ],
      trials,
    ),
  });
}

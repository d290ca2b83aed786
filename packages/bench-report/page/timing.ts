import * as Plot from '@observablehq/plot';
import { showFigure } from '../src/cells.ts';
import { formatUs, formatWhole } from '../src/format.ts';
import type { PageRow } from '../src/html/data.ts';
import { axisFrom0 } from './axes.ts';
import { layOutRows } from './bars.ts';
import { chart } from './chart.ts';
import { element, table, type Content } from './elements.ts';
import { byPlace, type Section } from './section.ts';

type Timed = PageRow & { timing: NonNullable<PageRow['timing']> };

/** The part of the latency that servers report, such as the time to gather, and the rest. */
export const timing: Section = {
  id: 'timing',
  title: 'Parts of the latency',
  build: ({ rows }) => {
    const timed = rows.filter((row): row is Timed => row.timing !== undefined);
    const [first] = timed;
    if (first === undefined) return undefined;
    return [
      element(
        'p',
        {},
        `${first.timing.metric} is the median time that the servers report (Server-Timing). The rest of the latency is the time to respond. At more than 1 connection it includes time in queues.`,
      ),
      byPlace(timed).map(([place, all]) => showPlace(place, sortRows(all as Timed[]), first.timing.metric)),
    ];
  },
};

function sortRows(rows: Timed[]): Timed[] {
  const whole = ({ timing: { told, rest } }: Timed): number => told.median + rest.median;
  return rows.toSorted((a, b) => whole(a) - whole(b));
}

function showPlace(place: string, rows: Timed[], name: string): Content {
  const title = `${name} and respond at ${place}`;
  const targets = rows.map(({ target }) => target);
  const parts = rows.flatMap(({ target, timing: { told, rest } }) => [
    { target, part: name, from: 0, to: told.median, text: formatUs(told.median) },
    {
      target,
      part: 'respond',
      from: told.median,
      to: told.median + rest.median,
      text: formatUs(rest.median),
    },
  ]);
  return chart({
    title,
    description: rows
      .map(
        ({ target, timing: { told, rest } }) =>
          `${target}: ${formatUs(told.median)} and ${formatUs(rest.median)}`,
      )
      .join('; '),
    legend: element('p', { class: 'key' }, `filled: ${name}, outlined: respond`),
    draw: (width) => {
      const { room, layout } = layOutRows(targets, width, 24);
      return {
        ...layout,
        x: axisFrom0(
          'p50',
          parts.map(({ to }) => to),
          room,
        ),
        marks: [
          Plot.barX(parts, {
            y: 'target',
            x1: 'from',
            x2: 'to',
            insetTop: 4,
            insetBottom: 4,
            stroke: 'var(--accent)',
            fill: ({ part }: { part: string }) => (part === name ? 'var(--accent)' : 'var(--page)'),
            title: ({ target, part, text }: { target: string; part: string; text: string }) =>
              `${target}, ${part}: ${text}`,
          }),
        ],
      };
    },
    values: table(
      title,
      [
        { head: 'target', cell: ({ target }) => target, isText: true },
        { head: 'connections', cell: (row) => formatWhole(row.connections) },
        { head: name, cell: (row) => showFigure(row.timing.told, formatUs) },
        { head: 'respond', cell: (row) => showFigure(row.timing.rest, formatUs) },
      ],
      rows,
    ),
  });
}

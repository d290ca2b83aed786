import * as Plot from '@observablehq/plot';
import { countOf, formatUs } from '../src/format.ts';
import { median } from 'bench-statistics/numbers';
import { axisFrom0 } from './axes.ts';
import { layOutRows, writeBeside } from './bars.ts';
import { chart } from './chart.ts';
import { element, table } from './elements.ts';
import type { Section } from './section.ts';

/** The time from the launch to the first correct response, over all trials of a target. */
export const startup: Section = {
  id: 'startup',
  title: 'Start-up',
  build: ({ rows }) => {
    const targets = [...Map.groupBy(rows, ({ target }) => target)]
      .flatMap(([target, own]) => {
        const seconds = own.flatMap(({ trials }) =>
          trials.flatMap(({ figures }) => figures.startup?.value ?? []),
        );
        return seconds.length === 0 ? [] : [{ target, seconds, middle: median(seconds) }];
      })
      .toSorted((a, b) => a.middle - b.middle);
    if (targets.length === 0) return undefined;
    const title = 'Time to the first correct response';
    return [
      element(
        'p',
        {},
        'One tick per trial, at every number of connections: the load begins later. The dot is the median.',
      ),
      chart({
        title,
        description: `${countOf(targets.length, 'target')}; ${targets[0]?.target} starts fastest.`,
        draw: (width) => {
          const names = targets.map(({ target }) => target);
          const { room, layout } = layOutRows(names, width, 64);
          return {
            ...layout,
            x: axisFrom0(
              'startup',
              targets.flatMap(({ seconds }) => seconds),
              room,
            ),
            marks: [
              Plot.tickX(
                targets.flatMap(({ target, seconds }) => seconds.map((value) => ({ target, value }))),
                {
                  y: 'target',
                  x: 'value',
                  stroke: 'var(--accent)',
                  strokeOpacity: 0.6,
                  insetTop: 4,
                  insetBottom: 4,
                },
              ),
              Plot.dot(targets, { y: 'target', x: 'middle', r: 4.5, fill: 'var(--accent)' }),
              writeBeside(targets, 'target', ({ middle }) => formatUs(middle * 1e6)),
            ],
          };
        },
        values: table(
          title,
          [
            { head: 'target', cell: ({ target }) => target, isText: true },
            { head: 'trials', cell: ({ seconds }) => String(seconds.length) },
            { head: 'fastest', cell: ({ seconds }) => formatUs(Math.min(...seconds) * 1e6) },
            { head: 'median', cell: ({ middle }) => formatUs(middle * 1e6) },
            { head: 'slowest', cell: ({ seconds }) => formatUs(Math.max(...seconds) * 1e6) },
          ],
          targets,
        ),
      }),
    ];
  },
};

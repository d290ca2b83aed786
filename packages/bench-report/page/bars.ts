/** Charts with a row for each name, one below the other. Needs no DOM: the pictures of the documents share it. */
import * as Plot from '@observablehq/plot';
import { fitNames } from './axes.ts';

const ROW = 24;

/** Lays out a chart of rows with their names on the left. `right` is the room for texts on the right. */
export function layOutRows(
  names: readonly string[],
  width: number,
  right: number,
): {
  room: number;
  layout: Pick<Plot.PlotOptions, 'height' | 'marginLeft' | 'marginRight' | 'marginBottom' | 'y'>;
} {
  const { margin, axis } = fitNames(names, width);
  return {
    room: width - margin - right,
    layout: {
      height: 46 + names.length * ROW,
      marginLeft: margin,
      marginRight: right,
      marginBottom: 34,
      y: axis,
    },
  };
}

/** Writes a text on the right of each row. `y` is the field of its name. */
export function writeBeside<Point>(
  points: readonly Point[],
  y: keyof Point & string,
  text: (point: Point) => string,
): Plot.Markish {
  return Plot.text(points, {
    y,
    frameAnchor: 'right',
    textAnchor: 'start',
    dx: 8,
    text,
    fill: 'currentColor',
  });
}

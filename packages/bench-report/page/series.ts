/** The look of each target: a colour, a symbol and a dash, so that colour is never the only sign. */
import * as Plot from '@observablehq/plot';
import { element } from './elements.ts';

const COLOURS = 8;
const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star', 'wye'] as const;
const DASHES = ['none', '6 3', '2 3', '8 3 2 3'] as const;

/** The look of a series. */
export interface Look {
  name: string;
  colour: string;
  symbol: (typeof SYMBOLS)[number];
  dash: string;
  /** A thin grey line without symbols, behind the others. */
  isFaint?: boolean;
}

/** Gives each name a look that stays the same whatever is filtered. */
export function giveLooks(names: readonly string[]): Map<string, Look> {
  return new Map(
    names.map((name, index) => [
      name,
      {
        name,
        colour: `var(--series-${index % COLOURS})`,
        symbol: SYMBOLS[index % SYMBOLS.length] ?? 'circle',
        dash: DASHES[Math.floor(index / COLOURS) % DASHES.length] ?? 'none',
      },
    ]),
  );
}

/** A point of a series; `isSound` is false for a lower bound or an invalid figure. */
export interface Dot {
  x: number;
  y: number;
  isSound: boolean;
  text: string;
}

/** A line of points with its look. */
export interface Series {
  look: Look;
  dots: readonly Dot[];
}

/** Makes the series of things that have a look by their names. */
export function toSeries<Thing>(
  things: readonly Thing[],
  looks: ReadonlyMap<string, Look>,
  { name, dots }: { name: (thing: Thing) => string; dots: (thing: Thing) => readonly Dot[] },
): Series[] {
  return things.flatMap((thing) => {
    const look = looks.get(name(thing));
    return look === undefined ? [] : [{ look, dots: dots(thing) }];
  });
}

/** Draws lines with symbols at the points that `marked` selects; at all of them by default. */
export function lines(series: readonly Series[], marked: (dot: Dot) => boolean = () => true): Plot.Markish[] {
  const [back, front] = [true, false].map((isFaint) =>
    series.filter(({ look }) => (look.isFaint ?? false) === isFaint),
  );
  return [
    ...(back ?? []).map(({ dots }) =>
      Plot.line(dots, { x: 'x', y: 'y', stroke: 'var(--faint)', strokeOpacity: 0.45, strokeWidth: 1 }),
    ),
    ...(front ?? []).flatMap(({ look, dots }) => [line(look, dots), symbols(look, dots.filter(marked))]),
  ];
}

function line(look: Look, dots: readonly Dot[]): Plot.Markish {
  return Plot.line(dots, {
    x: 'x',
    y: 'y',
    stroke: look.colour,
    strokeWidth: 1.75,
    ...(look.dash !== 'none' && { strokeDasharray: look.dash }),
  });
}

/** Draws the symbols of a series; that of a doubtful figure is hollow. */
function symbols(look: Look, dots: readonly Dot[]): Plot.Markish {
  return Plot.dot(dots, {
    x: 'x',
    y: 'y',
    r: 4,
    symbol: look.symbol,
    stroke: look.colour,
    fill: (dot: Dot) => (dot.isSound ? look.colour : 'var(--page)'),
  });
}

/** Shows the text of the point that is nearest to the pointer. */
export function tip(dots: readonly Dot[]): Plot.Markish {
  return Plot.tip(dots, Plot.pointer({ x: 'x', y: 'y', title: 'text', fill: 'var(--raised)' }));
}

/** Lists the names beside their symbols. */
export function legend(looks: ReadonlyMap<string, Look>): HTMLElement {
  return element(
    'ul',
    { class: 'legend' },
    [...looks.values()]
      .filter(({ isFaint }) => isFaint !== true)
      .map((look) => element('li', {}, swatch(look), look.name)),
  );
}

function swatch(look: Look): Element {
  const svg = Plot.plot({
    width: 30,
    height: 14,
    margin: 0,
    x: { axis: null, domain: [0, 30] },
    y: { axis: null, domain: [0, 14] },
    marks: [
      Plot.ruleY([7], {
        x1: 0,
        x2: 30,
        stroke: look.colour,
        strokeWidth: 1.75,
        ...(look.dash !== 'none' && { strokeDasharray: look.dash }),
      }),
      Plot.dot([0], { x: 15, y: 7, r: 4, symbol: look.symbol, fill: look.colour, stroke: look.colour }),
    ],
  });
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

/** A forest plot: the ratios of pairs with their intervals, one below the other. */
import * as Plot from '@observablehq/plot';
import type { Comparison } from 'bench-analysis/comparison';
import type { Metric } from 'bench-model/metrics';
import { VERDICTS } from 'bench-model/options';
import { formatChange } from '../src/format.ts';
import { logTicks, ratioTicks, roomFor } from './axes.ts';
import { layOutRows, writeBeside } from './bars.ts';
import { chart } from './chart.ts';
import { table, type Column } from './elements.ts';

const SYMBOLS = { faster: 'triangle', slower: 'triangle', same: 'square', undecided: 'circle' } as const;
const COLOURS = {
  faster: 'var(--good)',
  slower: 'var(--bad)',
  same: 'var(--accent)',
  undecided: 'var(--faint)',
} as const;

/** The symbols of a forest plot in words. */
export const FOREST_KEY =
  '◀ ▶ faster or slower, ■ the same within the band, ○ undecided. Dashed: only the range of the rounds, because nothing bounds the interval.';

/** A pair in a forest plot. Its name is unique there. */
export interface ForestRow {
  name: string;
  comparison: Comparison;
  /** Its verdict. */
  words: string;
}

/** The metric of a forest plot, its band, and the name of its table if the title is not unique on the page. */
export interface Forest extends Pick<Metric, 'better'> {
  threshold: number;
  caption?: string;
}

/** Shows pairs as a forest plot with a table, or as the table alone if no pair has a ratio. `columns` begin the table. */
export function showForest<Row extends ForestRow>(
  title: string,
  rows: Row[],
  columns: Column<Row>[],
  forest: Forest,
): HTMLElement {
  const values = table(
    forest.caption ?? title,
    [
      ...columns,
      {
        head: 'ratio',
        cell: ({ comparison: { ratio } }) => (ratio === undefined ? '—' : `× ${ratio.estimate.toFixed(3)}`),
      },
      { head: 'verdict: difference (95 % interval)', cell: ({ words }) => words, isText: true },
      { head: 'rounds', cell: ({ comparison }) => String(comparison.rounds) },
    ],
    rows,
  );
  if (rows.every(({ comparison }) => comparison.ratio === undefined)) return values;
  return chart({
    title,
    description: rows.map(({ name, words }) => `${name}: ${words}`).join('. '),
    draw: (width) => drawForest(rows, forest, width),
    values,
  });
}

/** Draws pairs as a forest plot. */
export function drawForest(
  rows: readonly ForestRow[],
  { threshold, better }: Forest,
  width: number,
): Plot.PlotOptions {
  const points = rows.flatMap((row) => {
    const { ratio, verdict, why, whole: { cost = verdict } = {} } = { why: undefined, ...row.comparison };
    if (ratio === undefined) return [];
    const { low, high } = ratio.interval ?? ratio.range;
    const change = formatChange(ratio.estimate);
    return [
      {
        name: row.name,
        estimate: ratio.estimate,
        low,
        high,
        verdict,
        change,
        words: `${change} (${why === 'blind' ? why : verdict}${cost === verdict ? '' : ' in time'})`,
        isRange: ratio.interval === undefined,
      },
    ];
  });
  const bounds = [...points.flatMap(({ low, high }) => [low, high]), 1 - threshold, 1 + threshold];
  const [least, most] = [Math.min(...bounds) / 1.02, Math.max(...bounds) * 1.02];
  const textOf = ({ change, words }: (typeof points)[number]): string => (width < 520 ? change : words);
  const names = rows.map(({ name }) => name);
  const { room, layout } = layOutRows(names, width, roomFor([...points.map(textOf), '+0.00 %']));
  const count = Math.max(3, Math.floor(room / 60));
  const ticks = most / least < 3 ? ratioTicks(least, most, count) : logTicks([least, most]);
  return {
    ...layout,
    x: {
      type: 'log',
      domain: [least, most],
      grid: true,
      label: null,
      ticks,
    },
    marks: [
      // The format of a logarithmic axis would leave out some of the ticks.
      Plot.axisX(ticks, { text: (ratio: number) => `× ${Number(ratio.toPrecision(3))}` }),
      Plot.rect([{ x1: 1 / (1 + threshold), x2: 1 + threshold }], {
        x1: 'x1',
        x2: 'x2',
        fill: 'var(--band)',
      }),
      Plot.ruleX([1], { stroke: 'var(--faint)' }),
      Plot.ruleY(
        points.filter(({ isRange }) => !isRange),
        {
          y: 'name',
          x1: 'low',
          x2: 'high',
          stroke: (one: { verdict: Comparison['verdict'] }) => COLOURS[one.verdict],
          strokeWidth: 2,
        },
      ),
      Plot.ruleY(
        points.filter(({ isRange }) => isRange),
        { y: 'name', x1: 'low', x2: 'high', stroke: COLOURS.undecided, strokeDasharray: '3 3' },
      ),
      ...VERDICTS.map((verdict) =>
        Plot.dot(
          points.filter((one) => one.verdict === verdict),
          {
            y: 'name',
            x: 'estimate',
            r: 5,
            symbol: SYMBOLS[verdict],
            // A triangle points to the side on which the candidate lies.
            rotate: (verdict === 'faster') === (better === 'lower') ? -90 : 90,
            stroke: COLOURS[verdict],
            fill: verdict === 'undecided' ? 'var(--page)' : COLOURS[verdict],
          },
        ),
      ),
      writeBeside(points, 'name', textOf),
    ],
  };
}

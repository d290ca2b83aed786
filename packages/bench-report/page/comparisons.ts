import * as Plot from '@observablehq/plot';
import { METRICS } from 'bench-model/metrics';
import { VERDICTS } from 'bench-model/options';
import { formatChange, formatShare, formatWhole, nameCell, nameTarget } from '../src/format.ts';
import type { PageComparisons } from '../src/html/data.ts';
import { fitNames, logTicks, ratioTicks } from './axes.ts';
import { chart } from './chart.ts';
import { element, table } from './elements.ts';
import { nameRung, type Section } from './section.ts';

type Compared = PageComparisons['rows'][number];

const SYMBOLS = { faster: 'triangle', slower: 'triangle', same: 'square', undecided: 'circle' } as const;
const COLOURS = {
  faster: 'var(--good)',
  slower: 'var(--bad)',
  same: 'var(--accent)',
  undecided: 'var(--faint)',
} as const;

/** With more rows in one chart, its axis would be out of sight: each number of connections then gets a separate chart. */
const MOST_TOGETHER = 24;

/** Each target beside its baseline, as a forest plot. */
export const comparisons: Section = {
  id: 'comparisons',
  title: 'Comparisons',
  build: ({ page, rows, metric }) => {
    const found = page.comparisons.find(({ by }) => by === metric);
    const kept = new Set(rows.map(nameCell));
    const shown = (found?.rows ?? []).filter((row) => kept.has(nameCell({ ...row, target: row.candidate })));
    if (found === undefined || shown.length === 0) return undefined;
    const { label, better } = METRICS[metric];
    const title = `Ratio of ${label} ${found.against}`;
    const share = formatShare(found.threshold);
    const charts: [string, Compared[]][] =
      shown.length > MOST_TOGETHER
        ? [...Map.groupBy(shown, ({ connections }) => connections)].map(([connections, own]) => [
            `${title}, at ${nameRung(connections)}`,
            own,
          ])
        : [[title, shown]];
    return [
      element(
        'p',
        {},
        `Each target ${found.against}, paired by round. 1 means no difference; ${better === 'lower' ? 'left' : 'right'} of it is better. The grey band is the smallest difference that matters, ±${share}. The intervals at each number of connections hold together with 95 % confidence.`,
      ),
      element(
        'p',
        { class: 'key' },
        '◀ ▶ faster or slower, ■ the same within the band, ○ undecided. Dashed: only the range of the rounds, because nothing bounds the interval.',
      ),
      page.builds.map((note) => element('p', {}, note)),
      charts.map(([name, compared]) => showForest(name, compared, found.threshold, better)),
    ];
  },
};

function showForest(
  title: string,
  rows: Compared[],
  threshold: number,
  better: 'higher' | 'lower',
): HTMLElement {
  const values = table(
    title,
    [
      { head: 'target', cell: ({ candidate: target, route }) => nameTarget({ target, route }), isText: true },
      { head: 'connections', cell: ({ connections }) => formatWhole(connections) },
      { head: 'baseline', cell: ({ baseline }) => baseline, isText: true },
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
    description: rows
      .map(({ candidate: target, route, words }) => `${nameTarget({ target, route })}: ${words}`)
      .join('. '),
    draw: (width) => drawForest(rows, threshold, better, width),
    values,
  });
}

function drawForest(
  rows: Compared[],
  threshold: number,
  better: 'higher' | 'lower',
  width: number,
): Plot.PlotOptions {
  const isOneRung = new Set(rows.map(({ connections }) => connections)).size === 1;
  const nameOf = (row: Compared): string => {
    const cell = { ...row, target: row.candidate };
    return isOneRung ? nameTarget(cell) : nameCell(cell);
  };
  const names = rows.map(nameOf);
  const { margin, axis } = fitNames(names, width);
  const points = rows.flatMap((row) => {
    const { ratio, verdict, why } = { why: undefined, ...row.comparison };
    if (ratio === undefined) return [];
    const { low, high } = ratio.interval ?? ratio.range;
    const change = formatChange(ratio.estimate);
    return [
      {
        name: nameOf(row),
        estimate: ratio.estimate,
        low,
        high,
        verdict,
        why,
        change,
        isRange: ratio.interval === undefined,
      },
    ];
  });
  const bounds = [...points.flatMap(({ low, high }) => [low, high]), 1 - threshold, 1 + threshold];
  const [least, most] = [Math.min(...bounds) / 1.02, Math.max(...bounds) * 1.02];
  const textOf = ({ change, verdict }: (typeof points)[number]): string =>
    width < 520 ? change : `${change} ${verdict}`;
  const right = 16 + 6.6 * Math.max(7, ...points.map((one) => textOf(one).length));
  const room = Math.max(2, Math.floor((width - margin - right) / 60));
  const ticks = most / least < 3 ? ratioTicks(least, most, room) : logTicks([least, most]);
  return {
    height: 46 + names.length * 24,
    marginLeft: margin,
    marginRight: right,
    marginBottom: 34,
    x: {
      type: 'log',
      domain: [least, most],
      grid: true,
      label: null,
      ticks,
    },
    y: axis,
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
          stroke: (one: { verdict: Compared['comparison']['verdict'] }) => COLOURS[one.verdict],
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
      Plot.text(points, {
        y: 'name',
        frameAnchor: 'right',
        textAnchor: 'start',
        dx: 8,
        text: textOf,
        fill: 'currentColor',
      }),
    ],
  };
}

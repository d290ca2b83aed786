/** A picture of what the comparisons of pools found, beside what was planted. */
import * as Plot from '@observablehq/plot';
import type { Verdict } from 'bench-model/options';
import { formatShare } from 'bench-report/format';
import { describeMachine } from 'bench-report/view';
import { summarisePool } from '../src/analyse/power.ts';
import type { Pool } from '../src/results/pool.ts';
import { drawPlot, nameRuns, type Picture, WIDTH } from './pictures.ts';

const ROW = 44;
/** A smaller share of a row has no room for a word. */
const NARROW = 0.15;

/** The verdicts from left to right, with their colours. */
const FILLS: Record<Verdict, string> = {
  slower: 'var(--bad)',
  same: 'var(--good)',
  undecided: 'var(--band)',
  faster: 'var(--accent)',
};

interface Part {
  row: string;
  verdict: Verdict;
  share: number;
  from: number;
  count: number;
}

/** Plans the picture of pools of `bench-http power` by their names: for each planted effect, the share of each verdict in all. */
export function toPlanted(pools: ReadonlyMap<string, Pool>): Picture {
  const all = [...pools.values()];
  const tests = all.flatMap(({ entries }) => entries);
  const [threshold = 0, ...others] = new Set(tests.map((test) => test.threshold));
  if (others.length > 0) throw new Error(`a picture of pools with one threshold, not also ${others.join()}`);
  const parts = summarisePool(tests).flatMap(({ effect, deferred, tests: { length }, verdicts }): Part[] => {
    const added = `+${formatShare(effect)} CPU ${deferred ? '50 ms later' : 'added'}`;
    const row = effect === 0 ? 'nothing added' : added;
    let from = 0;
    return (Object.keys(FILLS) as Verdict[]).flatMap((verdict) => {
      const count = verdicts[verdict];
      const part = count / length;
      from += part;
      return count === 0 ? [] : [{ row, verdict, count, share: part, from: from - part }];
    });
  });
  const title = 'Two builds of one server: what comparisons of at most two minutes said';
  const below = [
    `Smallest difference that matters: ${formatShare(threshold)}. ${nameRuns([...pools.keys()])}.`,
    ...new Set(all.map(({ host }) => `${describeMachine(host)}.`)),
  ];
  return {
    name: 'planted',
    alt: `${title}: ${parts.map(({ row, count, verdict }) => `${row}, ${count} ${verdict}`).join('; ')}`,
    width: WIDTH,
    draw: (theme) => drawPlot(theme, { title, below }, draw(parts)),
  };
}

function draw(parts: Part[]): Plot.PlotOptions {
  const rows = [...new Set(parts.map(({ row }) => row))];
  return {
    height: rows.length * ROW,
    marginRight: 16,
    marginLeft: 174,
    x: { axis: null, domain: [0, 1] },
    y: { domain: rows, label: null, tickSize: 0, padding: 0.25 },
    marks: [
      Plot.barX(parts, {
        y: 'row',
        x1: 'from',
        x2: ({ from, share }: Part) => from + share,
        fill: ({ verdict }: Part) => FILLS[verdict],
        insetLeft: 1,
        insetRight: 1,
      }),
      Plot.text(parts, {
        y: 'row',
        x: ({ from, share }: Part) => from + share / 2,
        text: ({ count, verdict, share }: Part) => (share < NARROW ? `${count}` : `${count} ${verdict}`),
        fill: ({ verdict }: Part) => (verdict === 'undecided' ? 'var(--text)' : 'var(--page)'),
        fontWeight: 600,
      }),
    ],
  };
}

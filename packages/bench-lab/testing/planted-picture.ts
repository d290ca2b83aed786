/** A picture of what the comparisons of a pool found, beside what was planted. */
import * as Plot from '@observablehq/plot';
import type { Verdict } from 'bench-model/options';
import { describeMachine } from 'bench-report/view';
import { summarisePool } from '../src/analyse/power.ts';
import type { Pool } from '../src/results/pool.ts';
import { drawPlot, type Picture, type Theme } from './pictures.ts';

const WIDTH = 760;
const ROW = 44;
const MARGIN = { top: 44, right: 16, bottom: 48, left: 190 };

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

/** Plans the picture of a pool of `pnpm bench:power`: for each planted effect, the share of each verdict. */
export function toPlanted(pool: Pool | undefined, id: string): Picture {
  if (pool === undefined) throw new Error(`no pool ${id}`);
  const effects = summarisePool(pool.entries);
  const parts = effects.flatMap(({ effect, deferred, tests, verdicts }): Part[] => {
    const share = `+${(100 * effect).toFixed(1).replace('.0', '')} % CPU`;
    const row = effect === 0 ? 'nothing added' : `${share} ${deferred ? '50 ms later' : 'added'}`;
    let from = 0;
    return (Object.keys(FILLS) as Verdict[]).flatMap((verdict) => {
      const count = verdicts[verdict];
      const part = count / tests.length;
      from += part;
      return count === 0 ? [] : [{ row, verdict, count, share: part, from: from - part }];
    });
  });
  const threshold = effects[0]?.tests[0]?.threshold ?? 0;
  const title = 'Two builds of one server: what comparisons of at most two minutes said';
  const below = [
    `Smallest difference that matters: ${100 * threshold} %. Run ${id}.`,
    `${describeMachine(pool.host)}.`,
  ].join('\n');
  return {
    name: 'planted',
    alt: `${title}: ${parts.map(({ row, count, verdict }) => `${row}, ${count} ${verdict}`).join('; ')}`,
    width: WIDTH,
    draw: (theme) => draw(parts, { title, below }, theme),
  };
}

function draw(parts: Part[], { title, below }: { title: string; below: string }, theme: Theme): string {
  const rows = [...new Set(parts.map(({ row }) => row))];
  const placed = { frameAnchor: 'bottom-left', textAnchor: 'start', dx: -MARGIN.left + 16 } as const;
  return drawPlot(theme, {
    width: WIDTH,
    height: MARGIN.top + rows.length * ROW + MARGIN.bottom,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    style: { fontSize: '14px' },
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
        text: ({ count, verdict }: Part) => `${count} ${verdict}`,
        fill: ({ verdict }: Part) => (verdict === 'undecided' ? 'var(--text)' : 'var(--page)'),
        fontWeight: 600,
      }),
      Plot.text([title], { ...placed, frameAnchor: 'top-left', dy: -30, fontSize: 16, fontWeight: 600 }),
      Plot.text([below], { ...placed, dy: 38, lineHeight: 1.4, fontSize: 12, fill: 'var(--faint)' }),
    ],
  });
}

/** Goodput over the rungs, one line for each target. */
import { formatWhole } from './format.ts';
import { nameKnee } from './knee.ts';
import type { Model, ModelRow } from './model/model.ts';

/** Bars of rising height. */
export const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A rung without a goodput. */
const GAP = '·';

/** With fewer rungs there is no course. */
const FEWEST_RUNGS = 3;

/**
 * Draws the goodput of each target over the rungs, relative to its highest, with its knee. Empty for fewer than three
 * rungs, and for an open loop, whose rate determines the goodput.
 */
export function drawCourses({ plan, ladders, rows }: Pick<Model, 'plan' | 'ladders' | 'rows'>): string[] {
  const rungs = [...new Set(rows.map(({ connections }) => connections))].toSorted((a, b) => a - b);
  if (rungs.length < FEWEST_RUNGS || plan.load.mode === 'open') return [];
  const widest = Math.max(...ladders.map(({ target }) => target.length));
  const lines = ladders.map((ladder) => {
    const own = rows.filter(({ target }) => target === ladder.target);
    return `  ${ladder.target.padEnd(widest)}  ${drawBars(rungs, own)}  ${nameKnee(ladder)}`;
  });
  const ends = [rungs[0], rungs.at(-1)].map((rung = 0) => formatWhole(rung));
  return [
    `goodput from ${ends.join(' to ')} connections; beyond its knee, more connections add none:`,
    ...lines,
  ];
}

function drawBars(rungs: readonly number[], rows: readonly ModelRow[]): string {
  const goodputs = rungs.map(
    (rung) => rows.find(({ connections }) => connections === rung)?.figures.goodput?.median,
  );
  const highest = Math.max(...goodputs.map((goodput = 0) => goodput));
  return goodputs
    .map((goodput) =>
      goodput === undefined
        ? GAP
        : BARS[Math.min(BARS.length - 1, Math.floor((goodput / highest) * BARS.length))],
    )
    .join('');
}

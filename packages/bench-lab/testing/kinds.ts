/** The published results of packages/bench-lab/experiments/kinds, as a table of a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from 'bench-statistics/numbers';
import type { Measured } from '../experiments/kinds/measured.ts';
import { drawTable } from './draw-table.ts';

/** Draws one row for each group of processes that lived alike: the median CPU per request over that of the reference, and the range. */
export function drawSwitches(folder: string): string {
  const all = JSON.parse(readFileSync(join(folder, 'kinds.json'), 'utf8')) as Measured[];
  const processes = all
    .filter(({ part }) => part === 'switches')
    .toSorted((one, other) => one.order - other.order);
  const rows = [...Map.groupBy(processes, ({ target, arm }) => `${target} ${arm}`).values()].map((group) => {
    const { target, arm } = group[0]!;
    const ratios = group.map((one) => one.ratios.at(-1)!);
    const [middle, low, high] = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) =>
      ratio.toFixed(2),
    );
    return [target, arm, String(group.length), `× ${middle} (${low} to ${high})`];
  });
  return drawTable(['server', 'start', 'processes', 'CPU/req ÷ ref.'], rows);
}

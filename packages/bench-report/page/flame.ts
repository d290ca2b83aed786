/** The boxes of a differential flame graph. Needs no DOM: the pictures of the documents share it. */
import { formatCost } from '../src/format.ts';
import type { Flame } from '../src/html/flame.ts';

/** A difference of this share of the whole has the full colour. */
const FULL_SHARE = 0.05;

/** The side that gives the widths. */
export type Width = 'after' | 'before';

/** The box of a function in a graph, and the box of its caller. */
export interface Box {
  flame: Flame;
  parent: Box | undefined;
  /** The row, from 0 on. */
  depth: number;
  /** Its left edge and its width, as shares of the width of the graph. */
  from: number;
  share: number;
  change: 'less' | 'more';
  /** The strength of its colour, from 0 to 1. */
  strength: number;
  label: string;
}

/**
 * Lays out a graph, callers before what they call. `path` begins with the whole; each of its further flames is a call of the one
 * before, and takes the whole width.
 */
export function layOut(path: readonly Flame[], by: Width): Box[] {
  const [whole] = path;
  const boxes: Box[] = [];
  const place = (flame: Flame, parent: Box | undefined, from: number, share: number): void => {
    const depth = parent === undefined ? 0 : parent.depth + 1;
    const box = { flame, parent, depth, from, share, ...describe(flame, whole ?? flame) };
    boxes.push(box);
    const next = path[depth + 1];
    let at = from;
    for (const call of next === undefined ? flame.calls : []) {
      const part = flame[by] === 0 ? 0 : (call[by] / flame[by]) * share;
      if (part > 0) place(call, box, at, part);
      at += part;
    }
    if (next !== undefined) place(next, box, 0, 1);
  };
  if (whole !== undefined) place(whole, undefined, 0, 1);
  return boxes;
}

function describe({ name, before, after }: Flame, whole: Flame): Pick<Box, 'change' | 'strength' | 'label'> {
  const difference = after - before;
  const full = FULL_SHARE * Math.max(whole.before, whole.after);
  return {
    change: difference < 0 ? 'less' : 'more',
    strength: Math.min(1, Math.abs(difference) / full),
    label: `${name} (${formatCost(before)} → ${formatCost(after)})`,
  };
}

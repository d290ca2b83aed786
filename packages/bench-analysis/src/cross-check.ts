import type { Target } from 'bench-model/target';
import { isSamePlace, placeOf } from 'bench-model/planned';
import type { Cell } from './cells.ts';
import type { Figure, Row } from './summary.ts';

/** Engines disagree if their goodputs for one target differ by more than this share. */
export const CROSS_CHECK_SHARE = 0.05;

/** One target at one place, measured by two engines. */
export interface CrossCheck extends Cell {
  engine: string;
  /** The engine that checks the first. */
  other: string;
  /** Absent if not measured. */
  goodput?: Figure | undefined;
  otherGoodput?: Figure | undefined;
  /** Median of the other ÷ median of the first; absent if either is missing. */
  ratio?: number;
  /** True if the ranges of their rounds overlap. */
  overlap: boolean;
}

/** Compares every target that two engines measured (`--cross-check`), at every place. */
export function crossCheck(rows: Row[], targets: Target[], engine: string): CrossCheck[] {
  return targets.flatMap(({ id, repeats, engine: other }) => {
    if (repeats?.kind !== 'cross-check' || other === undefined) return [];
    const of = repeats.targetId;
    return rows
      .filter(({ target }) => target === id)
      .map((checked): CrossCheck => {
        const { figures } = checked;
        const first = rows.find((row) => row.target === of && isSamePlace(row, checked));
        const [a, b] = [first?.figures.goodput, figures.goodput];
        return {
          target: of,
          ...placeOf(checked),
          engine,
          other,
          goodput: a,
          otherGoodput: b,
          ...(a === undefined || b === undefined ? {} : { ratio: b.median / a.median }),
          overlap: a !== undefined && b !== undefined && a.least <= b.most && b.least <= a.most,
        };
      });
  });
}

/** Returns true if two engines differ on a target by more than 5 % of the first engine's goodput. */
export function disagrees({ ratio = 1 }: CrossCheck): boolean {
  return Math.abs(ratio - 1) > CROSS_CHECK_SHARE;
}

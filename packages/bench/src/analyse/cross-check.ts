import type { Target } from '../model.ts';
import type { Figure, Row } from './summary.ts';

/** Goodputs of one target that differ by more than this make the engines suspect. */
export const CROSS_CHECK_SHARE = 0.05;

/** One target at one rung, by two engines. */
export interface CrossCheck {
  target: string;
  connections: number;
  engine: string;
  /** The one that checks it. */
  other: string;
  /** Absent where it was not measured. */
  goodput?: Figure | undefined;
  otherGoodput?: Figure | undefined;
  /** Of the medians, the other's to the first's; absent where one is. */
  ratio?: number;
  /** Whether the ranges of their rounds meet. */
  overlap: boolean;
}

/** What `--cross-check` found: every target that was measured by two engines, at every rung. */
export function crossCheck(rows: Row[], targets: Target[], engine: string): CrossCheck[] {
  return targets.flatMap(({ id, crossOf, engine: other }) => {
    if (crossOf === undefined || other === undefined) return [];
    return rows
      .filter(({ target }) => target === id)
      .map(({ connections, figures }): CrossCheck => {
        const first = rows.find((row) => row.target === crossOf && row.connections === connections);
        const [a, b] = [first?.figures.goodput, figures.goodput];
        return {
          target: crossOf,
          connections,
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

/** Whether two engines disagree on a target: by more than 5 % of the first one's goodput. */
export function disagrees({ ratio = 1 }: CrossCheck): boolean {
  return Math.abs(ratio - 1) > CROSS_CHECK_SHARE;
}

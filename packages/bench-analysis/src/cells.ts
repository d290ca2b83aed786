/** The cells of a run: each is one target at one number of connections. */
import type { Trial } from 'bench-model/record';

/** A target, by its name, at a number of connections. */
export interface Cell {
  target: string;
  connections: number;
}

/** Returns the key of a cell in a map. */
export function cellOf({ target, connections }: Cell): string {
  return `${connections} ${target}`;
}

/** Returns the trials of each cell by its key. */
export function groupByCell(trials: Trial[]): Map<string, Trial[]> {
  return Map.groupBy(trials, ({ target, connections }) => cellOf({ target: target.id, connections }));
}

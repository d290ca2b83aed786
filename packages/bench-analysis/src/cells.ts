/** The cells of a run: each is one target at one place. */
import { keyOfPlace, type Place } from 'bench-model/planned';
import type { Trial } from 'bench-model/record';

/** A target, by its name, at a place. */
export interface Cell extends Place {
  target: string;
}

/** Returns the key of a cell in a map. */
export function cellOf(cell: { target: string; connections: number; route?: string | undefined }): string {
  return `${keyOfPlace(cell)} ${cell.target}`;
}

/** Returns the trials of each cell by its key. */
export function groupByCell(trials: readonly Trial[]): Map<string, Trial[]> {
  return Map.groupBy(trials, ({ target, connections, route }) =>
    cellOf({ target: target.id, connections, route }),
  );
}

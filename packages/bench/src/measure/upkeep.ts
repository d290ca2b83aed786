/** Watches the upkeep of a server and its companions while nothing loads them. */
import { whileItLives } from 'bench-machine/resources/cpu-meter';
import type { ReadyServer } from './life.ts';

type Watched = Pick<ReadyServer, 'metered' | 'beside'>;

/** Begins to watch. Throws if the server has ended; the end of a companion is no fault of the server. */
export function beginWatch({ metered, beside = [] }: Watched): void {
  metered?.upkeep.begin();
  for (const { upkeep } of beside) whileItLives(() => upkeep.begin());
}

/** Ends what was begun. Throws if the server has ended. */
export function endWatch({ metered, beside = [] }: Watched): void {
  metered?.upkeep.end();
  for (const { upkeep } of beside) whileItLives(() => upkeep.end());
}

/** Returns true if the upkeep of a server is known, or cannot be known. */
export function isWatched({ metered }: Watched): boolean {
  return metered === undefined || metered.upkeep.usPerSecond !== undefined;
}

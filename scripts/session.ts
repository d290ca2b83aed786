import { openSession as open, type Purpose, type Session as Opened } from '@bench/harness/measure/session';
import {
  choosePlacement,
  pinHarness,
  type Placed,
  type PlacementNeeds,
} from '@bench/harness/machine/placement';
import { tell } from './shell.ts';

/** One command at work on this machine, until it is disposed of. */
export interface Session extends Opened {
  /**
   * Decides which cores each side can use, and keeps this process on those of the generators. Call it
   * once. `choose` decides; by default for a server that is started.
   */
  place(needs: PlacementNeeds, choose?: typeof choosePlacement): Promise<Placed>;
}

/**
 * Opens the session of a command, which measures alone unless told, and removes what killed commands left behind.
 * Throws a usage error while another command measures on this machine, unless told to wait for it.
 */
export async function openSession(
  run: string,
  { isAlone = true, wait = false }: Partial<Pick<Purpose, 'isAlone' | 'wait'>> = {},
): Promise<Session> {
  const opened = await open({ run, isAlone, wait, tell });
  return Object.assign(opened, {
    async place(needs: PlacementNeeds, choose = choosePlacement) {
      const placed = await choose(needs);
      if (placed.reason !== undefined) tell(`placement: ${placed.reason}`);
      await pinHarness(placed);
      return placed;
    },
  });
}

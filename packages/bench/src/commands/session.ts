import { openSession as open, type Purpose, type Session as Opened } from '../measure/session.ts';
import {
  choosePlacement,
  pinHarness,
  type PinnedCommands,
  type PlacementNeeds,
} from '../machine/placement.ts';
import { terminal } from './shell.ts';

/** A command at work on this machine, until it is disposed of. */
export interface Session extends Opened {
  /**
   * Places each side on its cores and pins this process to those of the generators. Call it once. `choose` makes the
   * placement; by default, that of a server that Bench starts.
   */
  place(needs: PlacementNeeds, choose?: typeof choosePlacement): Promise<PinnedCommands>;
}

/**
 * Opens the session of a command and removes the leftovers of killed commands. A session measures alone by default.
 * Throws a usage error while another command measures on this machine, unless `wait` is set.
 */
export async function openSession(
  run: string,
  {
    isAlone = true,
    wait = false,
    log = terminal.log,
  }: Partial<Pick<Purpose, 'isAlone' | 'wait' | 'log'>> = {},
): Promise<Session> {
  const opened = await open({ run, isAlone, wait, log });
  return Object.assign(opened, {
    async place(needs: PlacementNeeds, choose = choosePlacement) {
      const placed = await choose(needs);
      if (placed.reason !== undefined) log(`placement: ${placed.reason}`);
      await pinHarness(placed);
      return placed;
    },
  });
}

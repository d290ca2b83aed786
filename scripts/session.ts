import { randomBytes } from 'node:crypto';
import { removeDatabases } from '@bench/harness/measure/database';
import { lockHost } from '@bench/harness/measure/lock';
import {
  choosePlacement,
  pinHarness,
  type Placed,
  type PlacementNeeds,
} from '@bench/harness/measure/placement';
import { tell } from './shell.ts';

/** The right to measure on this machine, until it is disposed of. */
export interface Session extends Disposable {
  /** Marks every process of the session: what a killed session left is found by it. */
  token: string;
  /**
   * Decides which cores each side can use, and keeps this process on those of the generators. Call it
   * once. `choose` decides; by default for a server that is started.
   */
  place(needs: PlacementNeeds, choose?: typeof choosePlacement): Promise<Placed>;
}

/**
 * Opens a session for the run of that name: takes the host's lock, and removes what killed sessions left behind. Throws
 * a usage error while another session is open on this machine.
 */
export async function openSession(run: string): Promise<Session> {
  const token = randomBytes(8).toString('hex');
  using opening = new DisposableStack();
  const lock = opening.use(lockHost(run, token));
  for (const line of [...lock.removed, ...(await removeDatabases(lock.buried))]) tell(line);
  const held = opening.move();
  return {
    token,
    async place(needs, choose = choosePlacement) {
      const placed = await choose(needs);
      if (placed.reason !== undefined) tell(`placement: ${placed.reason}`);
      await pinHarness(placed);
      return placed;
    },
    [Symbol.dispose]: () => held.dispose(),
  };
}

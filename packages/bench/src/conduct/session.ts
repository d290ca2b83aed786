import { openSession as open, type Purpose, type Session as Opened } from '../measure/session.ts';
import {
  choosePlacement,
  pinHarness,
  type PinnedCommands,
  type PlacementNeeds,
} from 'bench-machine/placement';
import { terminal } from '../terminal/shell.ts';
import { NOTHING_YET, type Voice } from '../terminal/voice.ts';

/** A command at work on this machine, until it is disposed of. */
export interface Session extends Opened {
  /**
   * Places each side on its cores and pins this process to those of the generators. Call it once. `choose` makes the
   * placement; by default, that of a server that Bench starts.
   */
  place(needs: PlacementNeeds, choose?: typeof choosePlacement): Promise<PinnedCommands>;
}

/** The options of a session. */
interface Opening extends Partial<Pick<Purpose, 'isAlone' | 'wait'>> {
  voice?: Voice;
  /** The words of an interruption that no step of the command handles. */
  words?: string;
}

/**
 * Opens the session of a command and removes the leftovers of killed commands. A session measures alone by default. An
 * interruption that no step of the command handles closes it and ends the process. Throws a usage error while another
 * command measures on this machine, unless `wait` is set.
 */
export async function openSession(
  run: string,
  { isAlone = true, wait = false, voice = terminal, words = NOTHING_YET }: Opening = {},
): Promise<Session> {
  const { log } = voice;
  let opened: Opened | undefined;
  const interrupting = voice.onInterrupt(() => voice.quit(() => opened?.[Symbol.dispose]()), words);
  try {
    opened = await open({ run, isAlone, wait, log });
  } catch (error) {
    interrupting[Symbol.dispose]();
    throw error;
  }
  const close = opened[Symbol.dispose].bind(opened);
  return Object.assign(opened, {
    [Symbol.dispose]() {
      close();
      interrupting[Symbol.dispose]();
    },
    async place(needs: PlacementNeeds, choose = choosePlacement) {
      const placed = await choose(needs);
      if (placed.reason !== undefined) log(`placement: ${placed.reason}`);
      await pinHarness(placed);
      return placed;
    },
  });
}

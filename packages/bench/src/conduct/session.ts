import { openSession as open, type Purpose, type Session } from '../measure/session.ts';
import { terminal } from '../terminal/shell.ts';
import { NOTHING_YET, type Voice } from '../terminal/voice.ts';

export type { Session };

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
  let opened: Session | undefined;
  const interrupting = voice.onInterrupt(() => voice.quit(() => opened?.[Symbol.dispose]()), words);
  try {
    const session = await open({ run, isAlone, wait, log: voice.log });
    opened = session;
    return {
      ...session,
      [Symbol.dispose]() {
        session[Symbol.dispose]();
        interrupting[Symbol.dispose]();
      },
    };
  } catch (error) {
    interrupting[Symbol.dispose]();
    throw error;
  }
}

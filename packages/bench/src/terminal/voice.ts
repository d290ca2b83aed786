import type { Screen } from 'bench-report/progress';
import type { Tell } from 'bench-targets/prepare/prepare';

/** The words of an interruption, or a function that returns them when it happens. */
export type Words = string | (() => string);

/** The words of an interruption before the first result. */
export const NOTHING_YET = 'stopping: nothing has been measured yet';

/** The words of an interruption that keeps results. */
export const SAVED = 'stopping: completed trials are saved';

/** The connection of a measurement to its caller: a terminal, or a program. */
export interface Voice {
  /** Takes one line that is not part of the report. */
  log: Tell;
  /** Shows the progress of the trials. */
  screen: Screen;
  /**
   * Calls `stop` when the caller interrupts, at once if that has happened already. `words` tell the user. In a terminal,
   * only the innermost of several is called.
   */
  onInterrupt: (stop: () => void, words: Words) => Disposable;
  /** Interrupts a preparation: a command ends its process after `release`; a program waits for the preparation. */
  quit: (release: () => void) => void;
}

/** Returns the voice of a program: lines go to `log`, and an aborted signal interrupts. */
export function programVoice(log: (line: string) => void = () => {}, signal?: AbortSignal): Voice {
  return {
    log,
    screen: {
      isLive: false,
      layout: () => ({}),
      showLive() {},
      showLine: (text) => log(text),
      showReport() {},
    },
    onInterrupt(stop) {
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop);
      return { [Symbol.dispose]: () => signal?.removeEventListener('abort', stop) };
    },
    quit() {},
  };
}

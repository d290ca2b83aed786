/** A request kept in flight beside the load (`--background`), for the targets that repeat another one with it. */
import type { BackgroundRequest } from 'bench-model/settings';
import type { BackgroundUse } from 'bench-model/companions';
import { isDisturbed } from 'bench-model/planned';
import type { CompanionKind, TrialCompanion } from '../companion.ts';
import { judgeBackground } from 'bench-analysis/judge/companions';
import { keepInFlight, type Background } from './request.ts';

export const background: CompanionKind = {
  name: 'background',
  async find({ background: request }) {
    if (request === undefined) return undefined;
    return {
      name: 'background',
      isPlaced: false,
      start: async () => ({
        name: 'background',
        head: (target) => (isDisturbed(target) ? request : undefined),
        begin: async () => beginTrial(request),
        async [Symbol.asyncDispose]() {},
      }),
    };
  },
};

/** Begins the background request of one trial. */
export function beginTrial(request: BackgroundRequest, keep = keepInFlight): TrialCompanion {
  let running: Background | undefined;
  let use: BackgroundUse | undefined;
  let answered = 0;
  const end = (): void => {
    answered += running?.answers() ?? 0;
    use = running?.end() ?? use;
    running = undefined;
  };
  return {
    duringLoad(server) {
      running ??= keep(server, request);
      return { [Symbol.dispose]: end };
    },
    answers: () => answered + (running?.answers() ?? 0),
    requests: () => use?.sent ?? 0,
    judge: () => (use === undefined ? [] : judgeBackground(use)),
    // The server may continue to work on a cancelled request.
    keepsServerBusy: () => (use?.cancelled ?? 0) > 0,
    record: () => use,
    async [Symbol.asyncDispose]() {
      end();
    },
  };
}

/** A request kept in flight beside the load (`--background`), for the targets that repeat another one with it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from 'bench-model/options';
import type { BackgroundRequest } from 'bench-model/settings';
import type { BackgroundUse } from 'bench-model/companions';
import { isDisturbed } from 'bench-model/planned';
import type { CompanionKind, TrialCompanion } from '../companion.ts';
import { createHistogram, recordMilliseconds, summariseLatency } from 'bench-statistics/histogram';
import { keepAlive, sendRequest, type Endpoint } from 'bench-targets/catalogue/workloads/send';
import { judgeBackground } from 'bench-analysis/judge/companions';

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

/** The pause after an unanswered request, so that a server that is down is not flooded. */
const REST_MS = 50;
/** Longer than any load: a request may take as long as it takes. */
const LONGEST_SECONDS = 1e6;

/** A request that is kept in flight beside a load. Disposing ends it. */
export interface Background extends Disposable {
  /** Counts the complete responses so far. */
  answers(): number;
  /** Cancels the current request and returns the account. */
  end(): BackgroundUse;
}

/**
 * Keeps one request in flight, on one connection if the server keeps it open: reads each answer to its end and
 * sends the next request at once. Runs in this process, on the cores of the generators.
 */
export function keepInFlight(
  { host, port, tls }: Pick<Endpoint, 'host' | 'port' | 'tls'>,
  { method, path, body }: BackgroundRequest,
): Background {
  const over = new AbortController();
  const { signal } = over;
  const server: Endpoint = {
    host,
    port,
    ...present({ tls }),
    ended: () => undefined,
    logTail: () => [],
    stopped: signal,
  };
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const agent = keepAlive(server);
  const took = createHistogram();
  const statusCodes: Record<string, number> = {};
  const startedAt = performance.now();
  let [sent, answered, lost] = [0, 0, 0];
  let use: BackgroundUse | undefined;
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      sent++;
      const sentAt = performance.now();
      const request = { method, path, headers, ...present({ body }) };
      const answer = await sendRequest(server, request, LONGEST_SECONDS, agent).catch(() => undefined);
      if (signal.aborted) return;
      if (answer === undefined) {
        lost++;
        await sleep(REST_MS);
      } else {
        answered++;
        statusCodes[answer.status] = (statusCodes[answer.status] ?? 0) + 1;
        recordMilliseconds(took, performance.now() - sentAt);
      }
    }
  };
  const end = (): BackgroundUse => {
    if (use !== undefined) return use;
    use = {
      seconds: (performance.now() - startedAt) / 1000,
      sent,
      statusCodes,
      lost,
      cancelled: sent - answered - lost,
      ...present({ durationUs: summariseLatency(took) }),
    };
    over.abort();
    agent.destroy();
    return use;
  };
  void keep();
  return { answers: () => answered, end, [Symbol.dispose]: () => void end() };
}

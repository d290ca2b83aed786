import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import type { BackgroundRequest } from 'bench-model/settings';
import type { BackgroundUse } from 'bench-model/companions';
import { createHistogram, recordMilliseconds, summariseLatency } from 'bench-statistics/histogram';
import { tlsOptions } from 'bench-machine/tls';
import type { Endpoint } from 'bench-targets/catalogue/workloads/send';

/** The pause after an unanswered request, so that a server that is down is not flooded. */
const REST_MS = 50;

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
  const kept = { keepAlive: true, maxSockets: 1 };
  const agent = tls === undefined ? new Agent(kept) : new TlsAgent({ ...kept, ...tlsOptions(tls) });
  const begin = tls === undefined ? request : requestTls;
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const took = createHistogram();
  const statusCodes: Record<string, number> = {};
  const startedAt = performance.now();
  let [sent, answered, lost] = [0, 0, 0];
  let current: ClientRequest | undefined;
  let rest: NodeJS.Timeout | undefined;
  let use: BackgroundUse | undefined;

  const send = (): void => {
    const sentAt = performance.now();
    let answer: IncomingMessage | undefined;
    sent++;
    current = begin({ host, port, method, path, headers, agent }, (response) => {
      answer = response.on('error', () => {}).resume();
    });
    // Errors show at the close: the response is then incomplete.
    current
      .on('error', () => {})
      .on('close', () => {
        current = undefined;
        if (use !== undefined) return;
        if (answer?.complete === true) {
          answered++;
          const status = String(answer.statusCode);
          statusCodes[status] = (statusCodes[status] ?? 0) + 1;
          recordMilliseconds(took, performance.now() - sentAt);
          send();
        } else {
          lost++;
          rest = setTimeout(send, REST_MS);
        }
      });
    current.end(body);
  };
  const end = (): BackgroundUse => {
    if (use !== undefined) return use;
    const durationUs = summariseLatency(took);
    use = {
      seconds: (performance.now() - startedAt) / 1000,
      sent,
      statusCodes,
      lost,
      cancelled: current === undefined ? 0 : 1,
      ...(durationUs === undefined ? {} : { durationUs }),
    };
    clearTimeout(rest);
    current?.destroy();
    agent.destroy();
    return use;
  };
  send();
  return { answers: () => answered, end, [Symbol.dispose]: () => void end() };
}

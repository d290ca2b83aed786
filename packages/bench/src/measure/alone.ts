/** What an answer takes without a load: it shows where the time of an idle server goes. */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Alone } from 'bench-model/measured';
import { sendRequest, type Endpoint } from 'bench-targets/catalogue/workloads/send';
import type { WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';
import { median } from 'bench-statistics/numbers';

/** The requests on new connections, and those on one connection. */
const REQUESTS = { fresh: 5, kept: 16 };
/** The first requests of a connection: its acknowledgements are not delayed yet. */
const UNTYPICAL = 4;
/** Each kind of requests takes no longer than this and one answer. */
const SECONDS = 1;

/**
 * Sends a request again and again, one at a time: on a new connection each, and then on one that is kept. Throws what
 * `sendRequest` throws.
 */
export async function askAlone(
  server: Endpoint,
  request: WorkloadRequest,
  answerSeconds: number,
): Promise<Alone> {
  const ask = async (count: number, agent?: Agent): Promise<{ headUs: number; bodyUs: number }[]> => {
    const taken = [];
    const endsAtMs = performance.now() + SECONDS * 1000;
    while (taken.length < count && (taken.length === 0 || performance.now() < endsAtMs)) {
      const { headMs = 0, bodyMs = 0 } = await sendRequest(server, request, answerSeconds, agent);
      taken.push({ headUs: headMs * 1000, bodyUs: bodyMs * 1000 });
    }
    return taken;
  };
  const fresh = await ask(REQUESTS.fresh);
  const agent = new (server.tls === undefined ? Agent : TlsAgent)({ keepAlive: true, maxSockets: 1 });
  try {
    const all = await ask(REQUESTS.kept, agent);
    const kept = all.length > UNTYPICAL ? all.slice(UNTYPICAL) : all;
    return {
      freshUs: median(fresh.map(({ headUs, bodyUs }) => headUs + bodyUs)),
      keptUs: median(kept.map(({ headUs, bodyUs }) => headUs + bodyUs)),
      bodyUs: median(kept.map(({ bodyUs }) => bodyUs)),
    };
  } finally {
    agent.destroy();
  }
}

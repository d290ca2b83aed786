/** What a response takes without a load: it shows where the time of an idle server goes. */
import type { Agent } from 'node:http';
import type { Alone } from 'bench-model/measured';
import { keepAlive, sendRequest, type Endpoint } from 'bench-targets/catalogue/workloads/send';
import type { WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';
import { median, sum } from 'bench-statistics/numbers';

/** The requests on new connections, and those on one connection. */
const REQUESTS = { fresh: 5, kept: 16 };
/** The first requests of a connection: its acknowledgements are not delayed yet. */
const UNTYPICAL = 4;
/** Each kind of requests takes no longer than this and one response of each. */
const SECONDS = 1;

/** A request, and how often a mix sends it. */
export interface Weighted {
  request: WorkloadRequest;
  weight: number;
}

/**
 * Sends requests again and again, one at a time: on a new connection each, and then on one that is kept. Of several
 * requests, returns the means over a mix. Throws what `sendRequest` throws.
 */
export async function askAlone(
  server: Endpoint,
  requests: readonly Weighted[],
  answerSeconds: number,
): Promise<Alone> {
  const all: (Alone & { weight: number })[] = [];
  for (const { request, weight } of requests) {
    const seconds = SECONDS / requests.length;
    all.push({ ...(await askOne(server, request, { answerSeconds, seconds })), weight });
  }
  const meanOf = (key: keyof Alone): number =>
    sum(all.map((one) => one[key] * one.weight)) / sum(all.map(({ weight }) => weight));
  return { freshUs: meanOf('freshUs'), keptUs: meanOf('keptUs'), bodyUs: meanOf('bodyUs') };
}

async function askOne(
  server: Endpoint,
  request: WorkloadRequest,
  { answerSeconds, seconds }: { answerSeconds: number; seconds: number },
): Promise<Alone> {
  const ask = async (count: number, agent?: Agent): Promise<{ headUs: number; bodyUs: number }[]> => {
    const taken = [];
    const endsAtMs = performance.now() + seconds * 1000;
    while (taken.length < count && (taken.length === 0 || performance.now() < endsAtMs)) {
      const { headMs = 0, bodyMs = 0 } = await sendRequest(server, request, answerSeconds, agent);
      taken.push({ headUs: headMs * 1000, bodyUs: bodyMs * 1000 });
    }
    return taken;
  };
  const fresh = await ask(REQUESTS.fresh);
  const agent = keepAlive(server);
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

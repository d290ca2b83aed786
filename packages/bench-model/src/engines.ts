/** What each load engine can do. To add an engine, add an entry here. */
import { describePromises } from './promise.ts';
import type { LoadMode } from './settings.ts';

/** A load engine and its abilities. */
export interface Engine {
  /** Shown above every table that this engine measured. */
  note: string;
  /** The most connections that it opens. */
  mostConnections: number;
  /** What there can be several of; absent if the engine is always one process. */
  generators?: 'processes' | 'threads';
  /** True if it can send an exact number of requests. */
  counts?: boolean;
  /** True if it has an open loop. */
  openLoop?: boolean;
  /** True if it can load several servers by short turns. */
  takesTurns?: boolean;
  /** True if it can send any method and body, and several requests in turn. */
  anyRequest?: boolean;
  /** True if it can send the requests of a user: their rows, weights and expected responses. */
  routes?: boolean;
  /** True if it can give every request a unique id and find that id in the response. */
  ids?: boolean;
  /** True if it takes durations in whole seconds only. */
  wholeSeconds?: boolean;
}

/** External tools open all connections at once, so more than this would overflow the accept queue. */
const MOST_AT_ONCE = 1000;

const CLIENT = { generators: 'processes', counts: true, anyRequest: true } as const;
const TOOL = { mostConnections: MOST_AT_ONCE };

/** Every engine by name. All of them offer a closed loop: a connection sends its next request after the response. */
export const ENGINES = {
  autocannon: {
    ...CLIENT,
    openLoop: true,
    takesTurns: true,
    routes: true,
    ids: true,
    note: 'closed loop',
    mostConnections: Infinity,
  },
  requests: {
    ...CLIENT,
    note: 'closed loop on one connection, from Python’s requests',
    mostConnections: 1,
  },
  threads: {
    ...CLIENT,
    note: 'closed loop, from a pool of Python threads with requests, one thread per connection',
    mostConnections: 1000,
  },
  aiohttp: {
    ...CLIENT,
    note: 'closed loop, from Python’s asyncio with aiohttp, one task per connection',
    mostConnections: 10_000,
  },
  wrk: {
    ...TOOL,
    generators: 'threads',
    wholeSeconds: true,
    note: 'closed loop; no body is checked, and any status below 400 counts as right; its percentiles are corrected for coordinated omission',
  },
  k6: { ...TOOL, note: 'closed loop; no body is checked, and any status below 400 counts as right' },
} as const satisfies Record<string, Engine>;

export type EngineName = keyof typeof ENGINES;
export const ENGINE_NAMES = Object.keys(ENGINES) as EngineName[];

/** Returns the engine of this name; undefined if it is unknown. */
export function engineNamed(name: string): Engine | undefined {
  return (ENGINES as Record<string, Engine>)[name];
}

/** Returns true for the load that every report assumes: a closed loop over connections that are kept. */
export function isUsualLoad({ mode, newConnections }: LoadMode): boolean {
  return mode === 'closed' && newConnections !== true;
}

/** Returns true if servers are started, asked once and stopped: one request is no load. */
export function startsOnly(load: LoadMode): boolean {
  return load.mode === 'amount' && load.requests === 1;
}

/** Describes a load mode, e.g. `open loop at 2,000/s`. */
export function describeLoad(load: LoadMode): string {
  const connects = load.newConnections === true ? ', a new connection for each request' : '';
  if (load.mode === 'closed') return `closed loop${connects}`;
  if (load.mode === 'open') {
    const rates = [load, ...(load.curve ?? [])].flatMap((one) => ('perSecond' in one ? [one.perSecond] : []));
    const at = rates.map((rate) => `${rate.toLocaleString('en-US')}/s`).join(', ');
    return rates.length > 1
      ? `open loops of independent users (Poisson arrivals) at ${at}${connects}`
      : `open loop at ${at}${connects}`;
  }
  if (load.mode === 'promise')
    return `open loops of independent users (Poisson arrivals) at the rates around the highest that meets ${describePromises(load.promises)}${connects}`;
  if (startsOnly(load)) return 'no load: one request to each server';
  return `exactly ${load.requests.toLocaleString('en-US')} requests${connects}`;
}

import { BenchError } from '../errors.ts';
import type { LoadMode } from '../model.ts';
import { pythonProgram } from './python-program.ts';
import { haveIds, type Route } from './workloads/workload.ts';

/** A load engine and its abilities. */
export interface Engine {
  /** Shown above every table that this engine measured. */
  note: string;
  /** The most connections that it opens. */
  mostConnections: number;
  /** The unit that `--generators` multiplies; absent if the engine is always one process. */
  generators?: 'processes' | 'threads';
  /** True if it opens connections at a given rate. */
  paces: boolean;
  /** True if it can send an exact number of requests. */
  counts: boolean;
  /** True if it has an open loop. */
  openLoop: boolean;
  /** True if it can load several servers by short turns. */
  duels: boolean;
  /** True if it can send any method and body, and several requests in turn. */
  anyRequest: boolean;
  /** True if it can send the requests of a user: their rows, weights and expected answers. */
  routes: boolean;
  /** True if it can give every request a unique id and find that id in the answer. */
  ids: boolean;
  /** True if it takes durations in whole seconds only. */
  wholeSeconds: boolean;
}

/** External tools open all connections at once, so more than this would overflow the accept queue. */
const MOST_AT_ONCE = 1000;

const CLIENT = {
  generators: 'processes',
  paces: true,
  counts: true,
  openLoop: false,
  duels: false,
  anyRequest: true,
  routes: false,
  ids: false,
  wholeSeconds: false,
} as const;
const TOOL = {
  mostConnections: MOST_AT_ONCE,
  paces: false,
  counts: false,
  openLoop: false,
  duels: false,
  anyRequest: false,
  routes: false,
  ids: false,
  wholeSeconds: false,
};

/** Every engine by name. All of them offer a closed loop: a connection sends its next request after the answer. */
export const ENGINES = {
  autocannon: {
    ...CLIENT,
    openLoop: true,
    duels: true,
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
  oha: { ...TOOL, note: 'closed loop; no body is checked' },
  k6: { ...TOOL, note: 'closed loop; no body is checked, and any status below 400 counts as right' },
} as const satisfies Record<string, Engine>;

export type EngineName = keyof typeof ENGINES;
export const ENGINE_NAMES = Object.keys(ENGINES) as EngineName[];

/** The engines that `--cross-check` looks for, in this order; the first one installed is used. */
export const CROSS_CHECKS = ['wrk', 'oha', 'k6'] as const satisfies EngineName[];

/** Returns the engine of this name; undefined if it is unknown. */
export function engineNamed(name: string): Engine | undefined {
  return (ENGINES as Record<string, Engine>)[name];
}

/** The Python clients. */
export const CLIENTS = pythonProgram('clients', 'requests, aiohttp', {
  requests: ['-m', 'bench_clients', 'requests'],
  threads: ['-m', 'bench_clients', 'threads'],
  aiohttp: ['-m', 'bench_clients', 'aiohttp'],
});

/** Describes a load mode, e.g. `open loop at 2,000/s`. */
export function describeLoad(load: LoadMode): string {
  if (load.mode === 'closed') return 'closed loop';
  if (load.mode === 'open') return `open loop at ${load.perSecond.toLocaleString('en-US')}/s`;
  return `exactly ${load.requests.toLocaleString('en-US')} requests`;
}

/** The demands of a plan on its engine. */
export interface Wanted {
  rungs: number[];
  generators: number;
  load: LoadMode;
  /** Undefined if the accept queue of the server sets the pace. */
  connectsPerSecond?: number | undefined;
  isDuel: boolean;
  windowSeconds: number;
  warmupSeconds: number;
  requests: { method: string; body?: string }[];
  /** The routes of the requests of a user. */
  routes?: Pick<Route, 'statuses' | 'schema' | 'count'>[] | undefined;
}

function countConnections(count: number): string {
  return `${count.toLocaleString('en-US')} connection${count === 1 ? '' : 's'}`;
}

/** Returns true for a request that every engine can send and check. */
function isPlain({ statuses, schema, count }: Pick<Route, 'statuses' | 'schema' | 'count'>): boolean {
  return schema === undefined && count === 1 && statuses.join() === '2xx';
}

/** Throws a usage error if an engine cannot do what the plan needs. */
export function refuseEngine(name: EngineName, wanted: Wanted): void {
  const engine: Engine = ENGINES[name];
  const most = Math.max(...wanted.rungs);
  const fewest = Math.min(...wanted.rungs);
  const refusals: [boolean, string, string][] = [
    [!engine.openLoop && wanted.load.mode === 'open', 'has no open loop', 'omit --rate, or --engine'],
    [!engine.duels && wanted.isDuel, 'cannot take part in a duel', 'measure with --separate'],
    [
      !engine.counts && wanted.load.mode === 'amount',
      'cannot send an exact number of requests',
      'use --duration instead of --amount',
    ],
    [
      most > engine.mostConnections,
      `supports at most ${countConnections(engine.mostConnections)}, not ${most.toLocaleString('en-US')}`,
      `--connections ${engine.mostConnections}, or another engine`,
    ],
    [
      engine.generators === undefined && wanted.generators > 1,
      'runs as one process that uses every load core',
      'omit --generators',
    ],
    [
      engine.generators === 'threads' && wanted.generators > fewest,
      `needs a connection for each thread: ${wanted.generators} threads cannot share ${countConnections(fewest)}`,
      `--generators ${fewest}, or more connections`,
    ],
    [
      !engine.paces && wanted.connectsPerSecond !== undefined,
      'opens all connections at once, so --connect-rate has no effect',
      'omit --connect-rate',
    ],
    [
      engine.wholeSeconds && ![wanted.windowSeconds, wanted.warmupSeconds].every(Number.isInteger),
      `takes whole seconds, not ${wanted.warmupSeconds} s of warm-up and ${wanted.windowSeconds} s of window`,
      '--duration 5 --warmup 2',
    ],
    [
      !engine.ids && haveIds(wanted.requests),
      'cannot give each request an id, by which this workload checks the answers',
      'omit --engine',
    ],
    [
      !engine.anyRequest &&
        !wanted.requests.every(({ method, body }) => method === 'GET' && body === undefined),
      'sends only GET requests without a body',
      'use autocannon or one of the Python clients',
    ],
    [
      !engine.anyRequest && wanted.requests.length !== 1,
      `sends the same request every time, not ${wanted.requests.length} requests in turn`,
      'use autocannon or one of the Python clients',
    ],
    [
      !engine.routes &&
        wanted.routes !== undefined &&
        (wanted.routes.length > 1 || !wanted.routes.every(isPlain)),
      'sends one request and accepts every 2xx answer: it supports no rows, weights or other expectations',
      'omit --engine',
    ],
  ];
  const [refusal] = refusals.filter(([applies]) => applies);
  if (refusal !== undefined) throw new BenchError('usage', `${name} ${refusal[1]}`, refusal[2]);
}

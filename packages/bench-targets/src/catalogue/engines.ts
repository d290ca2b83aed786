import { BenchError } from 'bench-model/errors';
import { ENGINES, type Engine, type EngineName } from 'bench-model/engines';
import type { LoadMode } from 'bench-model/settings';
import { haveIds, type Route } from './workloads/workload.ts';

/** The demands of a plan on its engine. */
interface Wanted {
  rungs: number[];
  generators: number;
  load: LoadMode;
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
    [
      !engine.openLoop && (wanted.load.mode === 'open' || wanted.load.mode === 'promise'),
      'has no open loop',
      `omit ${wanted.load.mode === 'open' ? '--rate' : '--slo'}, or --engine`,
    ],
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
      'omit --scale, or --engine',
    ],
    [
      engine.generators === 'threads' && wanted.generators > fewest,
      `needs a connection for each thread: ${wanted.generators} threads cannot share ${countConnections(fewest)}`,
      `use ${wanted.generators} connections or more`,
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
        (wanted.requests.length !== 1 ||
          wanted.requests.some(({ method, body }) => method !== 'GET' || body !== undefined)),
      'sends the same GET request every time, without a body',
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

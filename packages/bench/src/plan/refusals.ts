/** Usage errors for plans that cannot be measured, and the length of windows whose answers wait by design. */
import { ENGINES, type Engine, type EngineName } from 'bench-model/engines';
import type { LoadMode } from 'bench-model/settings';
import { haveIds, type Route } from 'bench-targets/catalogue/workloads/workload';
import { BenchError } from 'bench-model/errors';
import { IDLE_SECONDS, longestSilence, planTurns } from './turns.ts';
import type { Plan } from 'bench-model/plan';
import type { BenchOptions } from 'bench-model/options';
import type { UserRequests } from 'bench-model/requests';

/** With fewer waits, the edges of a window would weigh too much. */
export const FEWEST_WAITS = 5;

/** Returns the shortest window of whole waits that lasts at least this many seconds. */
export function wholeWaits(seconds: number, waitSeconds: number | undefined): number {
  if (waitSeconds === undefined) return seconds;
  return tidy(waitSeconds * Math.max(FEWEST_WAITS, Math.ceil(tidy(seconds / waitSeconds))));
}

/** Rounds off the error of binary fractions. */
export function tidy(value: number): number {
  return Number(value.toFixed(6));
}

/** Throws a toolchain error if a plan was to compare targets, and only one of them can be measured. */
export function refuseAlone(
  planned: Pick<Plan, 'targets' | 'sequentialTest'>,
  { targets }: Pick<Plan, 'targets'>,
): void {
  if (planned.sequentialTest === undefined || planned.targets.length < 2 || targets.length > 1) return;
  throw new BenchError(
    'toolchain',
    `only ${targets[0]?.id ?? 'none of the targets'} can be measured, so nothing can be compared`,
    'see above why the others are left out; to measure it alone, name it alone, without --until-decided',
  );
}

/** Returns the longest idle time of a connection if this many targets take turns, in seconds. */
function waitSilence(targets: number, waitSeconds: number): number {
  const windowSeconds = wholeWaits(0, waitSeconds);
  const needs = { sides: targets, windowSeconds, cycleSeconds: waitSeconds, waitSeconds, turnSeconds: 0 };
  const turns = planTurns(needs);
  return tidy(longestSilence(targets, turns));
}

/** Returns true if servers whose answers wait this long can take turns. */
export function canTakeTurns(targets: number, waitSeconds: number | undefined): boolean {
  return waitSeconds === undefined || waitSilence(targets, waitSeconds) <= IDLE_SECONDS;
}

/** Throws a usage error for a window that is not a multiple of the wait. */
export function refuseWindow(
  { windowSeconds, workload }: BenchOptions,
  waitSeconds: number | undefined,
): void {
  if (windowSeconds === undefined || windowSeconds === wholeWaits(windowSeconds, waitSeconds)) return;
  throw new BenchError(
    'usage',
    `--duration ${windowSeconds}: each answer of ${workload} waits ${waitSeconds} s, and a window must hold a whole number of waits, at least ${FEWEST_WAITS}`,
    `e.g. --duration ${wholeWaits(windowSeconds, waitSeconds)}`,
  );
}

/**
 * Throws a usage error for a background request to a server that is already running: it may still be working on the
 * request of the previous trial.
 */
export function refuseBackground({ background, servers }: BenchOptions): void {
  if (background === undefined) return;
  if (servers !== undefined) {
    throw new BenchError(
      'usage',
      '--background needs a fresh server for each trial: the server of --url may still be working on the request of the previous trial',
      'launch the server with --stack path/to/stack.json',
    );
  }
}

/** Throws a usage error for a plan that needs more than hosts of a cluster can do together. */
export function refuseCluster(
  { cluster, load, servers }: BenchOptions,
  { engine, rungs, generators }: { engine: string; rungs: readonly number[]; generators: number },
): void {
  if (cluster === undefined) return;
  const least = Math.min(...rungs);
  const refusals: [boolean, string, string][] = [
    [engine !== 'autocannon', `takes the load driver of Bench, not ${engine}`, 'omit --engine'],
    [load.mode === 'amount', 'sends for a time, not an exact number of requests', 'use --duration'],
    [servers !== undefined, 'starts its servers itself', 'omit --url, or --cluster'],
    [
      generators > least,
      `has ${generators} generator processes, which cannot share ${least} connections`,
      `use ${generators} connections or more`,
    ],
  ];
  const [refusal] = refusals.filter(([applies]) => applies);
  if (refusal !== undefined) throw new BenchError('usage', `--cluster ${refusal[1]}`, refusal[2]);
}

/** Throws a usage error for a login that is sent again, if the load has no pause for it. */
export function refuseRenewal({ load, cluster }: BenchOptions, userRequests: UserRequests | undefined): void {
  const every = userRequests?.login?.every;
  if (every === undefined || (load.mode !== 'amount' && cluster === undefined)) return;
  throw new BenchError(
    'usage',
    `the login is sent again every ${every} s, and ${cluster === undefined ? 'a load of --amount is one window' : 'hosts of a --cluster cannot pause for that'}`,
    cluster === undefined ? 'use --duration, or omit "every"' : 'omit --cluster, or "every"',
  );
}

/** Throws a usage error for rounds on several hosts if their servers are already running. */
export function refuseSpread({ spread, servers }: BenchOptions): void {
  if (spread === undefined || servers === undefined) return;
  throw new BenchError(
    'usage',
    '--cluster starts a server on each host, and the servers of --url are already running',
    'omit --url, or --cluster',
  );
}

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

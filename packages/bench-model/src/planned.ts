/** What a plan says: of its servers, its turns, its warm-ups and its duration. */
import type { RuntimeSpec, Scale, Target } from './target.ts';
import type { MetricId } from './metrics.ts';
import type { Trial } from './record.ts';
import type { Plan, PlannedTrial } from './plan.ts';
import { SHORTEST_WARMUP_SECONDS, usualRuntime } from './runtimes.ts';

/** The load on a target: a number of connections and, if requests are measured one at a time, the request. */
export interface Place {
  connections: number;
  route?: string;
}

/** Returns only the place of something that has more fields. */
export function placeOf({ connections, route }: Place): Place {
  return route === undefined ? { connections } : { connections, route };
}

/** Returns the key of a place in a map. */
export function keyOfPlace({ connections, route }: Place): string {
  return JSON.stringify([connections, route]);
}

/** Returns the places at which a plan measures every target: by connections, then by request. */
export function placesOf({ rungs, routes }: Pick<Plan, 'rungs' | 'routes'>): Place[] {
  return rungs.flatMap((connections): Place[] =>
    routes === undefined ? [{ connections }] : routes.map((route) => ({ connections, route })),
  );
}

/** Returns true for the same place. */
export function isSamePlace(one: Place, other: Place): boolean {
  return one.connections === other.connections && one.route === other.route;
}

/** The trials that are measured together, because their servers run at once or because they share one. */
export function unitOf({ duel, life, id }: Pick<PlannedTrial, 'duel' | 'life' | 'id'>): string {
  return duel ?? life ?? id;
}

/** Connections per second that a server on one core usually accepts. */
const USUAL_CONNECT_RATE = 2000;

/** An event of a run, for the code that shows progress. */
export type RunEvent =
  | { kind: 'started'; planned: PlannedTrial; done: number; of: number }
  | { kind: 'ended'; trial: Trial; done: number; of: number };

/** Returns the metric that answers the question of a load: capacity for promises, else CPU per request. */
export function usualMetric({ load: { mode } }: Pick<Plan, 'load'>): MetricId {
  return mode === 'promise' ? 'capacity' : 'cpu';
}

/** Returns true if a target repeats another one with a background request. */
export function isDisturbed({ repeats }: Pick<Target, 'repeats'>): boolean {
  return repeats?.kind === 'background';
}

/** Returns the name of a runtime in tables. */
export function nameOfRuntime({ name, spec }: RuntimeSpec): string {
  return name ?? spec;
}

/** Returns the cores of each server; by default as many as it has workers. */
export function coresOf({ cores, workers }: Pick<Plan, 'cores' | 'workers'>): number {
  return cores ?? workers;
}

/** Names the size of a server by what it has several of: `1 worker`, `2 workers`, `2 threads`. */
export function nameSize({ workers, threads = 1 }: Pick<Scale, 'workers' | 'threads'>): string {
  const [count, noun] = threads > 1 ? [threads, 'thread'] : [workers, 'worker'];
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The shortest turn, in seconds. `plan/turns.ts` of bench has the measurements. */
export const TURN_SECONDS = {
  /** Of a comparison: only the ratio of two servers counts, and both pay for the cold caches of their turns. */
  comparison: 0.02,
  /** Of a table, whose figures should be those of a server that runs alone. */
  table: 0.1,
};

/** The time without load before and after the turns of a round, in seconds. */
export const QUIET_SECONDS = {
  /** Work that answers have left for later ends in it. */
  deferred: 0.6,
  /** The same after each of the requests that are measured one at a time. */
  betweenRequests: 0.1,
};
/** The shortest and the longest time in which the upkeep of idle servers is watched at a time, in seconds, and its part of the rests of one. */
const WATCH = { least: 0.5, most: 2, part: 0.1 };

/**
 * Returns the time in which the upkeep of idle servers is watched before and after their turns, in seconds. The longer a server
 * rests between its turns, the more an error of its upkeep matters.
 */
export function watchSeconds({ targets, windowSeconds }: Pick<Plan, 'targets' | 'windowSeconds'>): number {
  const wanted = WATCH.part * (targets.length - 1) * windowSeconds;
  return Math.min(WATCH.most, Math.max(WATCH.least, wanted));
}

/** The windows of a control: about this long, in seconds, and for a longer window of its server this part of it. */
const CONTROL = { seconds: 1, part: 0.5 };

/** Returns the time of the turns of a control with the planted cost, and of those without it, in seconds. */
export function controlSeconds(windowSeconds: number): number {
  return Math.max(Math.min(windowSeconds, CONTROL.seconds), CONTROL.part * windowSeconds);
}

/** Returns true if the servers of a plan take turns at this rung. */
export function takesTurns({ byTurns }: Pick<Plan, 'byTurns'>, connections: number): boolean {
  return byTurns?.rungs.includes(connections) === true;
}

/** Returns true if the servers of a plan take the short turns of a comparison, false for those of a table. */
export function comparesByTurns({ byTurns }: Pick<Plan, 'byTurns'>): boolean {
  return byTurns === undefined || byTurns.turnSeconds < TURN_SECONDS.table;
}

/** Returns the most servers that run at the same time. */
export function serversAtOnce({ byTurns, targets }: Pick<Plan, 'byTurns' | 'targets'>): number {
  return byTurns === undefined ? 1 : targets.length;
}

/** Returns the most connections that are open at the same time. */
export function connectionsAtOnce(plan: Pick<Plan, 'byTurns' | 'targets' | 'rungs'>): number {
  return Math.max(...plan.rungs.map((rung) => rung * (takesTurns(plan, rung) ? plan.targets.length : 1)));
}

/** The longest warm-up by default, in seconds: every round pays for it. A manifest can ask for more. */
export const LONGEST_WARMUP_SECONDS = 40;

/** The usual time beyond the shortest warm-up of a runtime whose compilers must come to rest, in seconds. */
const COMPILING_SECONDS = 3;

/** Returns the warm-up of a trial in seconds: an estimate, by the language, if it ends when the server is warm. */
export function warmupSecondsOf(
  { autoWarmup, warmupSeconds, waitSeconds = 0, quick, targets }: WarmupFacts,
  { target }: Pick<PlannedTrial, 'target'>,
): number {
  if (autoWarmup !== true) return warmupSeconds;
  const runtime = usualRuntime(targets.find(({ id }) => id === target)?.language ?? '');
  const own = runtime === undefined ? warmupSeconds : SHORTEST_WARMUP_SECONDS[runtime];
  const least = Math.max(own, waitSeconds);
  if (quick) return Math.max(warmupSeconds, least);
  return least + (runtime === 'jvm' || runtime === 'dotnet' ? COMPILING_SECONDS : 0);
}

/** The part of a plan that says how long servers are warmed up. */
type WarmupFacts = Pick<Plan, 'autoWarmup' | 'warmupSeconds' | 'waitSeconds' | 'quick' | 'targets'>;

/** The time of one trial beside its warm-up and window, in seconds: start-up, verification and stop. */
export const OVERHEAD_SECONDS = 3;
/** The responses that verification awaits one after another: a cycle of three requests before and after the load. */
const OVERHEAD_WAITS = 10;
/** The same for one request of a user, and its first response. */
const OVERHEAD_ANSWERS = 5;

/** The load on each request of a server that is warm, before its window, and the time between two of them, in seconds. */
export const ROUTE_SECONDS = { warmup: 0.05, change: 0.05 };

/** An open loop of a curve (several of --rate): the load before it and its usual length beside a search, in seconds, and the requests for a p99. */
export const CURVE = { rampSeconds: 0.3, seconds: 2, requests: 1100 };

/** Returns the length of an open loop of a curve: at low rates long enough for a p99, but for at most five times its usual length. */
export function curveStepSeconds(
  { load, windowSeconds }: Pick<Plan, 'load' | 'windowSeconds'>,
  perSecond: number,
): number {
  const usual = load.mode === 'promise' ? CURVE.seconds : windowSeconds;
  return Math.min(5 * usual, Math.max(usual, CURVE.requests / perSecond));
}

/** Estimates the duration of a round in seconds. */
export function secondsPerRound(plan: Plan): number {
  return estimateSeconds(plan) / plan.rounds;
}

/** Estimates the duration of the trials, in seconds. Servers that take turns start and stop together. */
export function estimateSeconds(plan: Plan, trials: PlannedTrial[] = plan.trials): number {
  const perStart =
    Math.max(OVERHEAD_SECONDS, plan.startupSeconds ?? 0) +
    OVERHEAD_WAITS * (plan.waitSeconds ?? 0) +
    OVERHEAD_ANSWERS * (plan.answerSeconds ?? 0);
  const starts = new Set(trials.map(unitOf)).size;
  const quiets = new Set(trials.flatMap(({ duel }) => duel ?? [])).size;
  const points = 'curve' in plan.load ? (plan.load.curve ?? []) : [];
  const curveSeconds = points
    .map(
      (point) =>
        CURVE.rampSeconds + curveStepSeconds(plan, 'perSecond' in point ? point.perSecond : Infinity),
    )
    .reduce((total, seconds) => total + seconds, 0);
  // Requests that share a server share its warm-up.
  const lives = new Map(trials.map((trial) => [trial.life ?? trial.id, trial]));
  const warmups = [...lives.values()].map((trial) => warmupSecondsOf(plan, trial));
  return trials.reduce(
    (sum, trial) =>
      sum +
      trial.connections / USUAL_CONNECT_RATE +
      (trial.life === undefined ? 0 : ROUTE_SECONDS.warmup + ROUTE_SECONDS.change) +
      plan.windowSeconds +
      (plan.control?.targets.includes(trial.target) === true ? 2 * controlSeconds(plan.windowSeconds) : 0) +
      curveSeconds,
    starts * perStart +
      2 * quiets * (QUIET_SECONDS.deferred + watchSeconds(plan)) +
      warmups.reduce((sum, seconds) => sum + seconds, 0),
  );
}

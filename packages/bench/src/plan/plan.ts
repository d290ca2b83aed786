import { resolve } from 'node:path';
import { describeBackground } from '../catalogue/background.ts';
import { DEFAULT_CONNECT_RATE, ENGINES, refuseEngine, type EngineName } from '../catalogue/engines.ts';
import { mostRounds, scheduleNamed } from '../catalogue/looks.ts';
import {
  FIRST_FIVE,
  expandTargets,
  refuseThreads,
  resolveTargets,
  spreadTargets,
} from '../catalogue/stacks.ts';
import { completeParams, workloadOf } from '../catalogue/workloads/index.ts';
import { urlWorkload, type UrlRequest } from '../catalogue/workloads/url.ts';
import { BenchError } from '../errors.ts';
import type { Stack } from '../catalogue/stack.ts';
import type { BackgroundRequest, LoadMode, Target, Trial, UpstreamKind } from '../model.ts';
import { present, type BenchOptions, type Sitting, type UrlOptions } from './options.ts';
import { createRandom, type Random } from '../random.ts';
import { redactUrl } from '../redact.ts';
import {
  FEWEST_WAITS,
  canTakeTurns,
  refuseBackground,
  refuseDuel,
  refuseUpstream,
  refuseWindow,
  wholeWaits,
} from './refusals.ts';

/** One trial to be: which target, at how many connections, when. */
export interface PlannedTrial {
  id: string;
  target: string;
  connections: number;
  round: number;
  /** Position in the whole run, from 0. */
  order: number;
  /** Seed of what the trial draws. */
  seed: number;
  /** Trials of one duel have the same. */
  duel?: string;
}

/** What will be measured: a value, printed by `--dry-run` and stored with the run. */
export interface Plan {
  schema: 2;
  run: string;
  seed: number;
  workload: string;
  /** All of the workload's; absent where it has none. */
  params?: Record<string, number>;
  /** How long each answer waits by design; absent where there is no such thing. */
  waitSeconds?: number;
  /** Where one was asked for. */
  upstream?: UpstreamKind;
  /** Kept in flight beside the load of every target that is `undisturbed` without it. */
  background?: BackgroundRequest;
  targets: Target[];
  rungs: number[];
  rounds: number;
  windowSeconds: number;
  warmupSeconds: number;
  timeoutSeconds: number;
  load: LoadMode;
  workers: number;
  /** Of each worker; the stack's own affair where absent. */
  threads?: number;
  /** What each server may use; `coresOf` where absent. */
  cores?: number;
  generators: number;
  connectsPerSecond: number;
  /** How long a server may take to its first right answer. */
  startSeconds: number;
  barrierSeconds: number;
  hashEvery: number;
  engine: string;
  quick: boolean;
  proveLimit: boolean;
  /** All targets of a round stand at once, a rung at a time. */
  duel?: true;
  /** Looks at which the run may stop because it is decided; `rounds` is the last of them. */
  sitting?: Sitting;
  url?: UrlRequest;
  /** Manifests from outside the repository, as typed. */
  stacks: string[];
  trials: PlannedTrial[];
}

/** What happens in a run, for whoever shows it. */
export type RunEvent =
  | { kind: 'started'; planned: PlannedTrial; done: number; of: number }
  | { kind: 'ended'; trial: Trial; done: number; of: number };

/** More than a week of them: a slip of the keyboard. */
const MOST_TRIALS = 100_000;

/** Rounds from which on a run can say something of two targets: it is then made for that. */
const FEWEST_TO_COMPARE = 6;

/** Connections of both sides that a duel may have unasked: one generator process holds them all. */
const MOST_AT_ONCE = 10_000;

/** A decision takes many rounds: each is short, and at one rung unless told. */
const SITTING = { windowSeconds: 2, warmupSeconds: 1 };

const QUICK = { rounds: 1, windowSeconds: 1.5, warmupSeconds: 0.5 };

/**
 * The plan that the options ask for. A round holds every target at every rung once, in an order drawn
 * from the seed, so that the order of any two is a fair coin. Throws a usage error for targets or
 * workloads that are not there.
 */
export function makePlan(options: BenchOptions, stacks: Stack[], run: string, seed: number): Plan {
  const url = options.url && planUrl(options.url);
  const workload = workloadOf({ workload: options.workload, url });
  const { sitting, load } = options;
  const short = sitting === undefined ? {} : { ...SITTING, connections: [workload.rungs[1] ?? 1] };
  const quick = { ...QUICK, connections: workload.rungs.filter((_, rung) => rung === 0 || rung === 2) };
  const params = completeParams(workload, options.params ?? {});
  const waitSeconds = workload.waitSeconds?.(params);
  const asked = { ...short, ...(options.quick ? quick : {}), ...options };
  const spread =
    url === undefined ? spreadTargets(chooseTargets(options, stacks), options.matrix) : [urlTarget(url)];
  const named = options.resolve ? resolveTargets(spread) : spread;
  const { background } = options;
  const once = options.aa ? [...named, repeatTarget(named[0] as Target)] : named;
  const own =
    background === undefined ? once : [...once, ...named.map((target) => disturbTarget(target, background))];
  const engines = chooseEngines(options);
  const [engine = 'autocannon', other] = engines;
  const targets = other === undefined ? own : own.flatMap((target) => [target, crossTarget(target, other)]);
  if ((options.threads ?? 1) > 1) refuseThreads(targets, stacks, workload.name);
  const rungs = [...new Set(asked.connections ?? rungsFor(engines, workload.rungs))].toSorted(
    (a, b) => a - b,
  );
  const rounds = sitting === undefined ? (asked.rounds ?? 3) : mostRounds(scheduleNamed(sitting.looks));
  const asksUpstream = workload.fixtures !== undefined;
  // A request in the background of one server would be in that of the others.
  const mayDuel =
    options.mayDuel &&
    workload.attached === undefined &&
    canTakeTurns(targets.length, waitSeconds) &&
    background === undefined &&
    engines.every((name) => name === 'autocannon');
  const comparesTwo = targets.length === 2 && (sitting !== undefined || rounds >= FEWEST_TO_COMPARE);
  const mostAtOnce = 2 * Math.max(...rungs);
  const isDuel = options.duel ?? (comparesTwo && mayDuel && mostAtOnce <= MOST_AT_ONCE);
  if (isDuel) refuseDuel(options, { workload, targets, waitSeconds });
  refuseWindow(options, waitSeconds);
  refuseBackground(options, workload);
  refuseUpstream(options, workload, asksUpstream);
  const count = targets.length * rungs.length * rounds;
  if (count > MOST_TRIALS) {
    throw new BenchError(
      'usage',
      `the plan has ${count.toLocaleString('en-US')} trials, at most ${MOST_TRIALS.toLocaleString('en-US')} are possible`,
      'ask for fewer rounds, targets or connections',
    );
  }
  if (load.mode === 'amount' && load.requests < Math.max(...rungs)) {
    throw new BenchError(
      'usage',
      `--amount ${load.requests} is less than the ${Math.max(...rungs)} connections`,
      'every connection sends at least one request',
    );
  }
  const windowSeconds = wholeWaits(asked.windowSeconds ?? workload.windowSeconds, waitSeconds);
  const warmupSeconds =
    options.warmupSeconds ?? Math.max(asked.warmupSeconds ?? workload.warmupSeconds, waitSeconds ?? 0);
  const { generators, connectsPerSecond } = options;
  const draws = createRandom(seed);
  const { requests } = workload.draw(() => draws.float(), params);
  const wanted = {
    rungs,
    generators,
    load,
    connectsPerSecond,
    isDuel,
    windowSeconds,
    warmupSeconds,
    requests,
  };
  refuseEngine(engine, wanted);
  // Here the rate of connects has an effect on the first engine.
  if (other !== undefined) refuseEngine(other, { ...wanted, connectsPerSecond: DEFAULT_CONNECT_RATE });
  return {
    schema: 2,
    run,
    seed,
    workload: workload.name,
    targets,
    rungs,
    rounds,
    windowSeconds,
    warmupSeconds,
    timeoutSeconds:
      asked.timeoutSeconds ?? Math.max(workload.timeoutSeconds, FEWEST_WAITS * (waitSeconds ?? 0)),
    workers: options.workers,
    generators: options.generators,
    connectsPerSecond: options.connectsPerSecond,
    startSeconds: workload.startSeconds ?? 30,
    barrierSeconds: workload.barrierSeconds ?? 30,
    hashEvery: 64,
    engine,
    load,
    quick: options.quick,
    proveLimit: options.proveLimit,
    stacks: options.stacks,
    trials: drawTrials({ targets, rungs, rounds, duel: isDuel }, seed),
    ...present({
      duel: isDuel ? (true as const) : undefined,
      sitting,
      params: Object.keys(params).length === 0 ? undefined : params,
      waitSeconds,
      threads: options.threads,
      cores: options.cores,
      upstream: options.upstream,
      background,
      url,
    }),
  };
}

/** Every trial of a plan, in an order drawn from the seed. */
function drawTrials(
  { targets, rungs, rounds, duel = false }: Pick<Plan, 'targets' | 'rungs' | 'rounds'> & { duel?: boolean },
  seed: number,
): PlannedTrial[] {
  const random = createRandom(seed);
  const trials: PlannedTrial[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const { target, connections } of shuffleRound(targets, rungs, duel, random)) {
      const order = trials.length;
      const id = `${String(order + 1).padStart(3, '0')}-${target.replaceAll(/[^\w.+-]+/g, '_')}-c${connections}-r${round}`;
      trials.push({
        id,
        target,
        connections,
        round,
        order,
        seed: random.below(2 ** 32),
        ...(duel && { duel: `c${connections}-r${round}` }),
      });
    }
  }
  return trials;
}

/** The cells of one round in their order: all of them shuffled, or its duels, one a rung, and who begins in each. */
function shuffleRound(
  targets: Target[],
  rungs: number[],
  isDuel: boolean,
  random: Random,
): { target: string; connections: number }[] {
  const cellsOf = (connections: number) => targets.map(({ id }) => ({ target: id, connections }));
  if (isDuel) return random.shuffle(rungs).flatMap((connections) => random.shuffle(cellsOf(connections)));
  return random.shuffle(rungs.flatMap(cellsOf));
}

/** Whether the servers of a plan ask a database. */
export function asksDatabase(plan: Pick<Plan, 'workload' | 'url'>): boolean {
  return workloadOf(plan).stores === true;
}

/** The texts that the upstream of a plan has to serve; undefined where there is none. */
export function fixturesOf(plan: Pick<Plan, 'workload' | 'url' | 'params'>): string[] | undefined {
  return workloadOf(plan).fixtures?.(plan.params ?? {});
}

/** A target under another name: what differs between the two is noise. */
function repeatTarget(target: Target): Target {
  return { ...target, id: `${target.id} (A/A)`, aaOf: target.id };
}

/** A target once more, with a request kept in flight beside its load. */
function disturbTarget(target: Target, background: BackgroundRequest): Target {
  return { ...target, id: `${target.id} (${describeBackground(background)} behind)`, undisturbed: target.id };
}

/** The engine of the run, and the one that checks it. Throws a usage error where they are the same. */
function chooseEngines({ engine = 'autocannon', crossCheck }: BenchOptions): EngineName[] {
  if (crossCheck === undefined || crossCheck === 'any') return [engine];
  if (crossCheck !== engine) return [engine, crossCheck];
  throw new BenchError(
    'usage',
    `--cross-check ${crossCheck}: expected another engine than --engine`,
    'name two different engines',
  );
}

/** The usual rungs, as far as all engines reach: at least the most that they do. */
function rungsFor(engines: EngineName[], rungs: number[]): number[] {
  const most = Math.min(...engines.map((name) => ENGINES[name].mostConnections));
  const reached = rungs.filter((rung) => rung <= most);
  return reached.length > 0 ? reached : [most];
}

/** A target once more, by another engine. */
function crossTarget(target: Target, engine: EngineName): Target {
  return { ...target, id: `${target.id} by ${engine}`, crossOf: target.id, engine };
}

/** Every engine that a plan needs. */
export function enginesOf({ engine, targets }: Pick<Plan, 'engine' | 'targets'>): string[] {
  return [...new Set([engine, ...targets.flatMap((target) => target.engine ?? [])])];
}

function chooseTargets(options: BenchOptions, stacks: Stack[]): Target[] {
  const { targets, workload } = options;
  if (options.all) return expandTargets([...targets, '*/*'], stacks, workload);
  if (targets.length > 0) return expandTargets(targets, stacks, workload);
  const given = new Set(options.stacks.map((file) => resolve(file)));
  const own = stacks.filter(({ manifest }) => given.has(resolve(manifest))).map(({ name }) => name);
  if (own.length > 0) return expandTargets(own, stacks, workload);
  const offering = FIRST_FIVE.filter((name) => {
    const stack = stacks.find((one) => one.name === name);
    return stack?.variants[stack.default]?.workloads.includes(workload);
  });
  return expandTargets(offering.length > 0 ? offering : ['*/*'], stacks, workload);
}

/** The request as the plan keeps it, with the digests of its texts. Throws a usage error if its files cannot be read. */
function planUrl({ url, ...asked }: UrlOptions): UrlRequest {
  const request = { ...asked, url: url.href };
  return { ...request, digests: urlWorkload(request).digests };
}

function urlTarget({ url, method }: UrlRequest): Target {
  return {
    id: `${method} ${redactUrl(url)}`,
    stack: 'url',
    variant: method,
    class: 'unknown',
    language: 'unknown',
    framework: 'unknown',
  };
}

/** How many cores each server may use: as many as it has workers, unless told. */
export function coresOf({ cores, workers }: Plan): number {
  return cores ?? workers;
}

/** The id of a run that begins now: when, and what for. */
export function nameRun(purpose: string, now = new Date()): string {
  const moment = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${moment}-${purpose}`;
}

/** The same targets in a new order, with new data: the plan of a run that does an old one again. */
export function repeatPlan(old: Plan, run: string, seed: number): Plan {
  return { ...old, run, seed, trials: drawTrials(old, seed) };
}

/** Seconds that one trial takes beside its warm-up and window: start-up, verification, stop. */
const OVERHEAD_SECONDS = 3;
/** Answers that it waits for one after the other, to verify a cycle of three requests before and after. */
const OVERHEAD_WAITS = 10;

/** About how long the trials will take, in seconds: an estimate from the plan alone. The servers of a duel start and stop at once. */
export function estimateSeconds(plan: Plan, trials: PlannedTrial[] = plan.trials): number {
  const perStart = OVERHEAD_SECONDS + OVERHEAD_WAITS * (plan.waitSeconds ?? 0);
  const starts = new Set(trials.map(({ duel, id }) => duel ?? id)).size;
  return trials.reduce(
    (sum, { connections }) =>
      sum + connections / plan.connectsPerSecond + plan.warmupSeconds + plan.windowSeconds,
    starts * perStart,
  );
}

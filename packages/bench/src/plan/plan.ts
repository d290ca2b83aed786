import { OVERHEAD_SECONDS, placeOf, takesTurns, type Place } from 'bench-model/planned';
import { resolve } from 'node:path';
import { readApp } from 'bench-targets/catalogue/projects/app';
import { spreadCopies } from 'bench-targets/catalogue/copies';
import { baselinesOf } from 'bench-analysis/baselines';
import { ENGINES, startsOnly, type EngineName } from 'bench-model/engines';
import { chooseLooks, mostRounds, scheduleNamed } from 'bench-targets/catalogue/looks';
import { FIRST_FIVE, expandTargets, refuseThreads, spreadTargets } from 'bench-targets/catalogue/stacks';
import { completeParams, workloadOf } from 'bench-targets/catalogue/workloads/index';
import { refuseFewRows } from './rows.ts';
import { completeUserRequests, draftOptions } from 'bench-targets/catalogue/workloads/requests/compose';
import type { UserRequests, AttachedServer } from 'bench-model/requests';
import {
  describeUserRequests,
  nameRequest,
  nameRoutes,
} from 'bench-targets/catalogue/workloads/requests/sent';
import type { Workload } from 'bench-targets/catalogue/workloads/workload';
import type { BackgroundRequest } from 'bench-model/settings';
import type { Target } from 'bench-model/target';
import { UsageError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import { START_SECONDS, present, type BenchOptions, type ServerOptions } from 'bench-model/options';
import { chooseTurns, fitTurns, type TurnFacts } from './by-turns.ts';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { createRandom, type Random } from 'bench-statistics/random';
import { resourcesFor, scaleTargets } from './scale.ts';
import { fewestBusy } from './rungs.ts';
import { redactUrl } from 'bench-machine/redact';
import { RUN_SCHEMA } from 'bench-model/versions';
import { refusePlan, type Untried } from './refusals.ts';
import { FEWEST_WAITS, tidy, wholeWaits } from './turns.ts';

/**
 * A decision takes many rounds, so each is short and at one rung by default. A second of turns on each side has
 * the least time per verdict: fresh processes differ too, and longer windows do not average that out
 * (bench-analysis/test/windows.test.ts).
 */
const SEQUENTIAL_TEST = { windowSeconds: { turns: 1, separate: 2 }, mostTimes: 5 };

/** A search of the capacity takes this long: see docs/guides/capacity.md for what other lengths find. */
const SEARCH_SECONDS = 12;

/** One body in this many is compared byte by byte. */
const HASH_EVERY = 64;
/** Nothing is known of the responses of a user, and there can be many different ones. */
const HASH_EVERY_ASKED = 16;

/** A server that is already running answers at once, unless it still answers 503. */
const ATTACHED_START_SECONDS = 5;

/** The shortest window of one request of several by default: of a comparison by turns, and of any other plan. */
const ROUTE_WINDOW_SECONDS = { comparison: 0.1, other: 1 };

/** For start-up alone, servers need no load: one request to each, and no warm-up. */
const START = {
  connections: [1],
  warmupSeconds: 0,
  windowSeconds: 0.1,
  load: { mode: 'amount' as const, requests: 1 },
};

const QUICK = { rounds: 1, windowSeconds: 1.5, warmupSeconds: 0.5 };

/** What was found of the targets of a plan before it was made. A dry run has found nothing. */
export interface Found {
  /** The targets that cannot be launched here. */
  leftOut?: readonly string[];
  /** How long the slowest server took for a response, and from its start to its stop. */
  answerSeconds?: number;
  startupSeconds?: number;
}

interface Chosen {
  workload: Workload;
  userRequests: UserRequests | undefined;
  targets: Target[];
  /** The servers that are already running, instead of those that Bench starts. */
  attached: AttachedServer[] | undefined;
}

/** Chooses the workload and the targets of options. Throws a usage error for unknown ones. */
export function choose(options: BenchOptions, stacks: Stack[]): Chosen {
  const userRequests = chooseRequests(options, stacks);
  const workload = workloadOf({ workload: options.workload, userRequests });
  const offered = userRequests === undefined ? workload.name : undefined;
  const { servers, matrix, copies = [] } = options;
  const attached = servers && attachServers(servers, userRequests);
  const targets =
    attached?.map((server) => attachedTarget(server, userRequests)) ??
    spreadCopies(spreadTargets(chooseTargets(options, stacks, offered), matrix, stacks), copies, stacks);
  return { workload, userRequests, targets, attached };
}

/**
 * Makes the plan from the options and from what was found of its targets. In each round every target runs once at every
 * rung, in an order drawn from the seed: either of two targets is equally likely to come first. Throws a usage error for
 * unknown targets or workloads.
 */
export function makePlan(
  given: BenchOptions,
  stacks: Stack[],
  run: string,
  seed: number,
  found: Found = {},
): Plan {
  const options = asksForStarts(given) ? { ...given, ...START } : given;
  const { workload, userRequests, targets: all, attached } = choose(options, stacks);
  const {
    sequentialTest: typedTest,
    load,
    quick,
    background,
    scale,
    cluster,
    engine = 'autocannon',
  } = options;
  // The fewer connections, the shorter the turns, and the more of the machine's pace they share.
  const isShort = typedTest !== undefined || load.mode === 'promise';
  const chosen = {
    ...(isShort && { connections: [fewestBusy(workload.rungs)] }),
    ...(quick && { ...QUICK, connections: workload.rungs.filter((_, index) => index === 0 || index === 2) }),
    ...options,
  };
  const params = completeParams(workload, options.params ?? {});
  const waitSeconds = workload.waitSeconds?.(params);
  const named = all.filter(({ id }) => found.leftOut?.includes(id) !== true);
  const once = options.noise ? [...named, repeatTarget(named[0] as Target)] : named;
  const disturbed = background === undefined ? [] : named.map((target) => disturbTarget(target, background));
  const own = [...once, ...disturbed];
  const targets = scale === undefined ? own : scaleTargets(own, scale, stacks);
  if ((options.threads ?? 1) > 1) refuseThreads(targets, stacks, workload.name);
  const rungs = new Set(chosen.connections ?? rungsFor(engine, workload.rungs));
  // A capacity is that of a service under all of its requests.
  const routes =
    userRequests === undefined || load.mode === 'promise' || startsOnly(load)
      ? undefined
      : nameRoutes(userRequests);
  const sequentialTest = typedTest && {
    ...typedTest,
    looks:
      typedTest.looks ??
      chooseLooks(1 + (targets.length - 1) * (routes?.length ?? 1), {
        hasBudget: typedTest.budgetSeconds !== undefined,
        searches: load.mode === 'promise',
      }),
  };
  const base: TurnFacts = {
    schema: RUN_SCHEMA,
    run,
    seed,
    workload: workload.name,
    targets,
    rungs: [...rungs].toSorted((a, b) => a - b),
    rounds:
      sequentialTest === undefined ? (chosen.rounds ?? 3) : mostRounds(scheduleNamed(sequentialTest.looks)),
    warmupSeconds:
      options.warmupSeconds ?? Math.max(chosen.warmupSeconds ?? workload.warmupSeconds, waitSeconds ?? 0),
    timeoutSeconds:
      chosen.timeoutSeconds ?? Math.max(workload.timeoutSeconds, FEWEST_WAITS * (waitSeconds ?? 0)),
    workers: options.workers,
    startSeconds: startSecondsOf(targets, stacks, attached),
    barrierSeconds: cluster?.connectSeconds ?? workload.barrierSeconds ?? 30,
    hashEvery: userRequests === undefined ? HASH_EVERY : HASH_EVERY_ASKED,
    engine,
    load,
    quick,
    stacks: options.stacks,
    ...resourcesFor(options),
    ...present({
      autoWarmup: options.warmupSeconds === undefined ? (true as const) : undefined,
      sequentialTest,
      upgrade: options.isUpgrade,
      params: Object.keys(params).length === 0 ? undefined : params,
      waitSeconds,
      threads: options.threads,
      cluster,
      spread: options.spread,
      background,
      userRequests,
      routes,
      attached,
      apps: options.apps?.map(readApp),
    }),
  };
  const turns = chooseTurns(base, options, stacks);
  const planned = { ...base, ...sizeWindows({ ...base, ...turns }, chosen.windowSeconds, workload) };
  const draws = createRandom(seed);
  const drawn = workload.draw(() => draws.float(), params);
  refusePlan(planned, drawn, given.windowSeconds);
  const plan = plantControl(finishPlan(planned, found), options);
  refuseFewRows(plan, drawn.routes);
  return plan;
}

/** Returns the turns of a plan and the length of its windows: the one that its options name, or else the usual one. */
function sizeWindows(
  { sequentialTest, byTurns, apart, routes, load, waitSeconds }: TurnFacts & Pick<Plan, 'byTurns' | 'apart'>,
  namedSeconds: number | undefined,
  workload: Workload,
): Pick<Plan, 'windowSeconds' | 'byTurns' | 'apart'> {
  const isTested = sequentialTest !== undefined;
  const { turns, separate } = SEQUENTIAL_TEST.windowSeconds;
  const testedSeconds = byTurns === undefined ? separate : turns;
  const usualSeconds = isTested ? testedSeconds : workload.windowSeconds;
  const shortest = ROUTE_WINDOW_SECONDS[isTested && byTurns !== undefined ? 'comparison' : 'other'];
  const shared = routes === undefined ? usualSeconds : Math.max(shortest, tidy(usualSeconds / routes.length));
  const ownSeconds = namedSeconds ?? (load.mode === 'promise' ? SEARCH_SECONDS : shared);
  const windowSeconds = wholeWaits(ownSeconds, waitSeconds);
  const mostSeconds =
    isTested && namedSeconds === undefined ? SEQUENTIAL_TEST.mostTimes * windowSeconds : undefined;
  return {
    windowSeconds,
    ...present({ byTurns: byTurns && { ...byTurns, ...present({ mostSeconds }) }, apart }),
  };
}

/** Plans to plant the threshold of a comparison by turns into turns of its baselines, unless the options forbid it. */
function plantControl(plan: Plan, { control = true }: BenchOptions): Plan {
  const { sequentialTest, byTurns } = plan;
  if (!control || byTurns === undefined || sequentialTest?.by !== 'cpu') return plan;
  const targets = baselinesOf(plan);
  return targets.length === 0 ? plan : { ...plan, control: { share: sequentialTest.threshold, targets } };
}

/** Returns true if start-up decides, and no load is named. */
function asksForStarts({ sequentialTest, load, connections, windowSeconds }: BenchOptions): boolean {
  const isNamed = load.mode !== 'closed' || connections !== undefined || windowSeconds !== undefined;
  return sequentialTest?.by === 'startup' && !isNamed;
}

/** Fits a plan to what was found of its servers, and draws its trials. */
function finishPlan(plan: Untried, { answerSeconds = 0, startupSeconds = 0 }: Found): Plan {
  const fitted: Untried = {
    ...fitAnswers(plan, answerSeconds),
    ...(startupSeconds > OVERHEAD_SECONDS && { startupSeconds: Math.round(10 * startupSeconds) / 10 }),
  };
  return { ...fitted, trials: drawTrials(fitted, plan.seed) };
}

/** Returns the longest time that a target of a plan may take to its first correct response, in seconds. */
function startSecondsOf(
  targets: readonly Target[],
  stacks: readonly Stack[],
  attached: AttachedServer[] | undefined,
): number {
  if (attached !== undefined) return ATTACHED_START_SECONDS;
  const own = stacks.filter(({ name }) => targets.some(({ stack }) => stack === name));
  return Math.max(...own.map(({ startSeconds = START_SECONDS }) => startSeconds));
}

/** The part of a plan that decides which trials it has. */
type Blocks = Pick<Plan, 'targets' | 'rungs' | 'rounds' | 'byTurns' | 'routes' | 'background' | 'cluster'>;

/** Returns every trial of a plan, in an order drawn from the seed. */
function drawTrials(plan: Blocks, seed: number): PlannedTrial[] {
  const random = createRandom(seed);
  const trials: PlannedTrial[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    for (const cell of shuffleRound(plan, random)) {
      const { target, connections, route } = cell;
      const order = trials.length;
      const at = `c${connections}-r${round}`;
      trials.push({
        id: nameTrial({ ...cell, round, order }),
        target,
        connections,
        ...(route !== undefined && { route }),
        round,
        order,
        seed: random.below(2 ** 32),
        ...(takesTurns(plan, connections) && { duel: at }),
        ...(route !== undefined && sharesServers(plan) && { life: `${at} ${target}` }),
      });
    }
  }
  return trials;
}

/**
 * Returns true if a server is loaded with one request after the other. With a background request, or load from other hosts,
 * each request has a fresh server.
 */
function sharesServers({ background, cluster }: Blocks): boolean {
  return background === undefined && cluster === undefined;
}

/** The id of a trial, which also names its files. */
export function nameTrial(trial: Pick<PlannedTrial, 'target' | 'connections' | 'round' | 'order'>): string {
  const { target, connections, round, order } = trial;
  return `${String(order + 1).padStart(3, '0')}-${target.replaceAll(/[^\w.+-]+/g, '_')}-c${connections}-r${round}`;
}

interface Cell extends Place {
  target: string;
}

/**
 * Returns the cells of one round in their order. Separate servers are shuffled as a whole, and so are the requests of one of
 * them. Servers that take turns stay together, in a random order among themselves for each request.
 */
function shuffleRound(plan: Blocks, random: Random): Cell[] {
  const { targets, rungs, routes = [undefined] } = plan;
  const units = rungs.flatMap((connections): Cell[][][] => {
    const cellsOf = (names: readonly Target[], route: string | undefined): Cell[] =>
      names.map(({ id }) => ({ target: id, ...placeOf({ connections, route }) }));
    if (takesTurns(plan, connections)) return [routes.map((route) => cellsOf(targets, route))];
    if (sharesServers(plan)) return targets.map((target) => routes.map((route) => cellsOf([target], route)));
    return targets.flatMap((target) => routes.map((route) => [cellsOf([target], route)]));
  });
  return random
    .shuffle(units)
    .flatMap((unit) => random.shuffle(unit).flatMap((cells) => random.shuffle(cells)));
}

/** Copies a target under another name. The difference between the two is noise. */
function repeatTarget(target: Target): Target {
  return { ...target, id: `${target.id} (A/A)`, repeats: { targetId: target.id, kind: 'a/a' } };
}

/** Copies a target, to be measured with a request in flight beside its load. */
function disturbTarget(target: Target, background: BackgroundRequest): Target {
  return {
    ...target,
    id: `${target.id} (with ${nameRequest(background)})`,
    repeats: { targetId: target.id, kind: 'background' },
  };
}

/** Returns the default rungs that an engine supports; if it supports none, its most connections. */
function rungsFor(engine: EngineName, rungs: number[]): number[] {
  const most = ENGINES[engine].mostConnections;
  const reached = rungs.filter((rung) => rung <= most);
  return reached.length > 0 ? reached : [most];
}

/** Without a workload, any server can be asked, whatever workloads its manifest lists. */
function chooseTargets(options: BenchOptions, stacks: Stack[], workload: string | undefined): Target[] {
  const own = namedStacks(options, stacks).map(({ name }) => name);
  const patterns = options.targets.length > 0 ? options.targets : own;
  if (patterns.length > 0) return expandTargets(patterns, stacks, workload);
  if (workload === undefined) {
    throw new UsageError(
      'no server is named for the requests',
      'name a target, a folder or an address, such as http://127.0.0.1:3000',
    );
  }
  const offering = FIRST_FIVE.filter((name) => {
    const stack = stacks.find((one) => one.name === name);
    return stack?.variants[stack.default]?.workloads.includes(workload);
  });
  return expandTargets(offering.length > 0 ? offering : ['*/*'], stacks, workload);
}

/** Returns the stacks of the targets that options name, or else those of their manifests and folders. */
function namedStacks({ targets, stacks: files, apps = [] }: BenchOptions, stacks: readonly Stack[]): Stack[] {
  const names = new Set(targets.map((pattern) => pattern.split(/[/@]/)[0]));
  const given = new Set([...files, ...apps.map(({ folder }) => folder)].map((file) => resolve(file)));
  return stacks.filter(({ name, manifest }) =>
    names.size > 0 ? names.has(name) : given.has(resolve(manifest)),
  );
}

const USUAL_WORKLOAD = 'devices';

/**
 * Returns the requests of the options, or else those of the manifests that the options name; undefined for a workload of
 * Bench. Throws a usage error if they cannot be sent, or if two manifests ask for different ones.
 */
function chooseRequests(options: BenchOptions, stacks: readonly Stack[]): UserRequests | undefined {
  const { userRequests, servers, workload } = options;
  if (userRequests !== undefined) return completeUserRequests(draftOptions(userRequests));
  if (servers !== undefined) throw new Error('servers that are already running, and no requests');
  const chosen = namedStacks(options, stacks);
  const asking = chosen.flatMap(({ manifest, requests }) =>
    requests === undefined ? [] : [{ manifest, ...requests }],
  );
  const [first] = asking;
  // A manifest can offer workloads of Bench too: they are measured if the user names one.
  const offered = chosen.flatMap(({ variants }) => Object.values(variants).flatMap((one) => one.workloads));
  if (first === undefined || offered.includes(workload)) return undefined;
  if (workload !== USUAL_WORKLOAD)
    throw new UsageError(`--workload has no effect: ${first.manifest} has "requests"`, 'omit it');
  const [wanted, ...others] = asking.map(({ draft, locate }) => completeUserRequests(draft, locate));
  const other = others.findIndex((one) => describeUserRequests(one) !== describeUserRequests(wanted!));
  if (other === -1) return wanted;
  throw new UsageError(
    `${first.manifest} and ${asking[other + 1]?.manifest} ask for different requests, so their figures could not be compared`,
    'give both the same requests, or name them: --requests-file requests.json',
  );
}

function attachServers(
  servers: readonly ServerOptions[],
  userRequests: UserRequests | undefined,
): AttachedServer[] {
  const attached = servers.map(({ name, url }): AttachedServer => {
    const [only, ...more] = userRequests?.requests ?? [];
    const address = redactUrl(url.origin);
    const usual =
      only === undefined || more.length > 0
        ? address
        : `${only.method} ${redactUrl(`${address}${only.path}`)}`;
    return { target: name ?? usual, url: url.origin };
  });
  const twice = attached.find(
    ({ target }, index) => attached.findIndex((one) => one.target === target) !== index,
  );
  if (twice === undefined) return attached;
  throw new UsageError(
    `two servers are named ${twice.target}`,
    'give them different names: old=http://127.0.0.1:3000 new=http://127.0.0.1:3001',
  );
}

function attachedTarget({ target }: AttachedServer, userRequests: UserRequests | undefined): Target {
  return {
    id: target,
    stack: 'url',
    variant: userRequests?.requests[0]?.method ?? 'GET',
    class: 'unknown',
    language: 'unknown',
    framework: 'unknown',
  };
}

/** Returns a plan that repeats an old one: the same targets but those that are left out, in a new order and with new data. */
export function repeatPlan(old: Plan, { run, seed }: Pick<Plan, 'run' | 'seed'>, found: Found = {}): Plan {
  const { byTurns: _byTurns, ...apart } = old;
  const targets = old.targets.filter(({ id }) => found.leftOut?.includes(id) !== true);
  return finishPlan({ ...(targets.length < 2 ? apart : old), run, seed, targets }, found);
}

/** Returns true if answers that take this long change the turns or the windows of a plan. */
export function areSlow(plan: Plan, seconds: number): boolean {
  return fitAnswers(plan, seconds) !== plan;
}

/**
 * Fits a plan to servers that take this long for a response. If turns cannot hold two of them, or would leave connections
 * idle for too long, the servers are measured one at a time. Windows are at least as long as five answers, so that those at
 * their edges weigh little.
 */
function fitAnswers(plan: Untried, seconds: number): Untried {
  const answerSeconds = Math.round(100 * seconds) / 100;
  const { byTurns, waitSeconds, load, targets } = plan;
  // Answers that wait by design have their own windows, and an amount of requests has none.
  if (waitSeconds !== undefined || load.mode === 'amount') return plan;
  const shortest = Math.round(100 * FEWEST_WAITS * answerSeconds) / 100;
  const windowSeconds = Math.max(plan.windowSeconds, shortest);
  const rungs = (byTurns?.rungs ?? []).filter((connections) =>
    fitTurns(seconds, { servers: targets.length, connections }),
  );
  const isApart = rungs.length < (byTurns?.rungs.length ?? 0);
  if (windowSeconds === plan.windowSeconds && !isApart) return plan;
  const { byTurns: _byTurns, ...rest } = plan;
  return {
    ...rest,
    ...(byTurns !== undefined && rungs.length > 0 && { byTurns: { ...byTurns, rungs } }),
    ...(isApart && { apart: 'their responses are too slow for turns' }),
    answerSeconds,
    windowSeconds,
    warmupSeconds: Math.max(plan.warmupSeconds, answerSeconds),
    timeoutSeconds: Math.max(plan.timeoutSeconds, shortest),
  };
}

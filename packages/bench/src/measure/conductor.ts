/** The conductor: starts fresh servers together, loads them in turn, and makes a record of each. A single trial has one server. */

import {
  comparesByTurns,
  CURVE,
  curveStepSeconds,
  QUIET_SECONDS,
  ROUTE_SECONDS,
  TURN_SECONDS,
  watchSeconds,
  controlSeconds,
} from 'bench-model/planned';
import { AsyncDisposableStack, DisposableStack } from '@whatwg-node/disposablestack';
import type { LoadResult } from 'bench-model/load';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import type { Control, Turns } from 'bench-model/measured';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { present } from 'bench-model/options';
import type { LoadMode } from 'bench-model/settings';
import { TURN_ANSWERS } from '../plan/by-turns.ts';
import { planTurns, sizeWindow, type TurnPlan } from '../plan/turns.ts';
import {
  ServerLife,
  type LifeTrial,
  type ReadyServer,
  type TrialContext,
  type TrialEffects,
} from './life.ts';
import type { LoadEngine, LoadSession, Window } from 'bench-load/engine';
import type { LoadSpec } from 'bench-load/protocol';
import type { Clock } from 'bench-machine/resources/cpu-meter';
import { joinSampled, type Sampled } from 'bench-machine/resources/sampler';
import { explainTrends, judgeTurns } from 'bench-analysis/judge/trend';
import { ControlTaker } from './control.ts';
import { Silence } from './silence.ts';
import { TurnTaker } from './turns.ts';
import { beginWatch, endWatch, isWatched } from './upkeep.ts';
import { rampOf, warmUp, type Warmable } from './warm-up.ts';
import {
  CapacitySearch,
  GAP_SEEDS,
  paceOf,
  type Curve,
  type MeasuredStep,
  type PlannedStep,
  type Search,
} from './capacity.ts';
import { accountFor, runWindow, watchForDeath, type WindowResult } from './window.ts';

/** The longest duration of a fixed amount of requests. */
const AMOUNT_SECONDS = 600;

/** A trial to be measured. */
export interface Entry {
  planned: PlannedTrial;
  context: TrialContext;
}

/**
 * Measures trials of one plan together. Their fresh servers are up at the same time. After a warm-up the same generators
 * load them in turn in short windows, A B B A, so that disturbances of the machine affect all of them. A single server
 * has one long window. The window of a trial is the sum of its short windows. If the requests of a user are measured one
 * at a time, the servers are warmed up with all of them first; then all servers are loaded with the first request, and so
 * on. Never throws: if a trial fails, the others continue.
 */
export async function measureTogether(entries: readonly Entry[], effects: TrialEffects): Promise<Trial[]> {
  const lives = [...Map.groupBy(entries, ({ planned }) => planned.life ?? planned.id).values()].map((own) => {
    const [{ planned, context }] = own as [Entry];
    return new ServerLife(
      planned,
      context,
      effects,
      own.map((one) => one.planned),
    );
  });
  const servers: StartedServer[] = [];
  for (const life of lives) {
    await attempt(life, async () => {
      servers.push({ life, ready: await life.start() });
    });
  }
  const sides = servers.flatMap(({ life, ready }) => life.trials.map((trial) => sideOf(life, ready, trial)));
  const [first] = entries;
  if (first !== undefined) await loadAll(servers, sides, first, effects);
  for (const { life } of servers) await attempt(life, () => life.afterLoad());
  for (const { life, trial, load, samples, turns, control, search, curve } of sides as (Side & {
    trial: LifeTrial;
  })[]) {
    await attempt(trial, async () => {
      const sampled = joinSampled(samples);
      if (load !== undefined) await life.take({ load, sampled, turns, control, search, curve }, trial);
    });
  }
  const ended = (await Promise.all(lives.map((life) => life.end()))).flat();
  return entries.flatMap(({ planned }) => ended.find(({ id }) => id === planned.id) ?? []);
}

/** A server that has answered rightly. */
interface StartedServer {
  life: ServerLife;
  ready: ReadyServer;
}

/** Loads the servers with all requests if they share them, and then with one after the other. */
async function loadAll(
  servers: readonly StartedServer[],
  sides: readonly Side[],
  { context: { plan }, planned: { route, life } }: Entry,
  effects: TrialEffects,
): Promise<void> {
  await using generators = new Generators(effects.load(), plan.generators);
  const { clock } = effects;
  const isShared = route !== undefined && life !== undefined;
  const isWarm = (side: Side): boolean =>
    isShared && side.trial !== undefined && side.life.isWarmedUp(side.trial);
  const seconds = (side: Side): number | undefined => (isWarm(side) ? ROUTE_SECONDS.warmup : undefined);
  if (isShared) {
    const whole = servers
      .filter((server) => sides.some((side) => side.life === server.life && isWarm(side)))
      .map((server) => sideOf(server.life, server.ready));
    await withSessions(whole, { plan, generators }, async (loaded, outlive) => {
      await warmSides(loaded, { plan, outlive, clock, seconds: () => undefined });
    });
  }
  for (const own of Map.groupBy(sides, ({ planned }) => planned.route).values()) {
    const here = own.filter(({ outcome }) => !outcome.failed);
    if (isShared) for (const one of here) await attempt(one.outcome, () => one.life.rest());
    await withSessions(here, { plan, generators }, (loaded, outlive) =>
      loadInTurn(loaded, { plan, outlive, clock, seconds }),
    );
  }
}

/** The load on a running server for one of its trials, and the results so far. */
interface Side {
  life: ServerLife;
  /** The trial; undefined for a load before all trials of the server. */
  trial?: LifeTrial;
  /** The trial or, before all of them, the server: a failure of the load is its failure. */
  outcome: Pick<LifeTrial, 'failed' | 'fail' | 'note'>;
  planned: PlannedTrial;
  ready: ReadyServer;
  /** The results of all its windows so far. */
  load?: LoadResult;
  samples: Sampled[];
  /** Its turns, if they were short. */
  turns?: Turns;
  /** What was planted into further turns, and read. */
  control?: Control | undefined;
  /** The search of its capacity, if its plan has promises. */
  search?: Search;
  /** Open loops at other loads. */
  curve?: Curve;
}

function sideOf(life: ServerLife, ready: ReadyServer, trial?: LifeTrial): Side {
  return trial === undefined
    ? { life, outcome: life, planned: life.planned, ready, samples: [] }
    : { life, trial, outcome: trial, planned: trial.planned, ready, samples: [] };
}

/** Takes one step with a server or a trial that has not failed. A failure in it affects only that one. */
async function attempt(
  outcome: Pick<LifeTrial, 'failed' | 'fail'>,
  step: () => Promise<void>,
): Promise<void> {
  if (outcome.failed) return;
  try {
    await step();
  } catch (error) {
    outcome.fail(error);
  }
}

/** A running side, with its connections. */
interface Loaded {
  side: Side;
  ready: ReadyServer;
  session: LoadSession;
  /** Rejects if its server ends. */
  death: Promise<never>;
  silence: Silence;
}

/** The generator processes of all loads on servers that are up together: other requests begin with warm ones. */
class Generators implements AsyncDisposable {
  readonly #engine: LoadEngine;
  readonly #processes: number;
  #opened: LoadSession | undefined;

  constructor(engine: LoadEngine, processes: number) {
    this.#engine = engine;
    this.#processes = processes;
  }

  /** Opens a session. If the engine supports only one, it ends the last one. */
  async open(spec: LoadSpec): Promise<LoadSession> {
    const beside = this.#opened?.beside?.(spec);
    if (beside !== undefined) return beside;
    await this[Symbol.asyncDispose]();
    this.#opened = this.#engine.open(spec, this.#processes);
    return this.#opened;
  }

  /** Ends the processes. The next session starts others. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
    this.#opened = undefined;
  }
}

/** Connects to running sides, and lets `use` load them. Fails all of them if a generator fails. */
async function withSessions(
  sides: readonly Side[],
  { plan, generators }: { plan: Plan; generators: Generators },
  use: (loaded: readonly Loaded[], outlive: Outlive) => Promise<void>,
): Promise<void> {
  if (sides.length === 0) return;
  try {
    for (const side of sides) {
      const { life, trial, outcome } = side;
      await attempt(outcome, () => life.renewToken(0));
      side.ready = { ...side.ready, spec: life.specOf(trial) };
    }
    await using sessions = new AsyncDisposableStack();
    using watches = new DisposableStack();
    const loaded: Loaded[] = [];
    for (const side of sides) {
      const { life, ready } = side;
      const session = await generators.open(ready.spec);
      // A generator that has failed has failed its sides before.
      sessions.defer(() => session.leave?.().catch(() => {}));
      sessions.use(accountFor(session, (counts) => life.account(counts)));
      const death = watches.use(watchForDeath(ready.server)).promise;
      loaded.push({ side, ready, session, death, silence: new Silence(plan.timeoutSeconds) });
    }
    const outlive = outliveAmong(loaded.map(({ death }) => death));
    for (const { side, session, death } of loaded)
      await attempt(side.outcome, () => outlive(() => session.arm(), death));
    await use(loaded, outlive);
  } catch (error) {
    for (const { outcome } of sides) if (!outcome.failed) outcome.fail(error);
  }
  // They may have failed, or still wait for a server.
  if (sides.some(({ outcome }) => outcome.failed)) await generators[Symbol.asyncDispose]();
}

/** The settings of a load. */
interface Loading {
  plan: Plan;
  outlive: Outlive;
  clock: Clock;
  /** Returns the exact warm-up of a side in seconds; undefined if it ends when the server is warm. */
  seconds: (side: Side) => number | undefined;
}

/** Warms up the sides, and opens their windows in turn. */
async function loadInTurn(loaded: readonly Loaded[], loading: Loading): Promise<void> {
  const { plan, outlive, clock } = loading;
  const [only, ...others] = loaded;
  if (only !== undefined && plan.load.mode === 'promise') {
    await searchCapacity(only, plan.load, loading);
    return;
  }
  const isAlone = others.length === 0;
  if (only !== undefined && isAlone) {
    const loops =
      plan.load.mode === 'open' && plan.load.curve !== undefined ? new OpenLoops(only, loading) : undefined;
    const cycle = await warmSides(loaded, loading);
    const warmupSeconds = rampOf(warmableOf(only, loading), plan, cycle);
    const window = { ...wholeWindow(plan), warmupSeconds, ...loops?.gaps() };
    const windows = splitWindow(window, plan.userRequests?.login?.every);
    await openWindows(
      loaded,
      windows.map((part) => ({ turn: 0, window: part })),
      outlive,
    );
    await loops?.measureCurve();
    return;
  }
  const cycleSeconds = await warmSides(loaded, loading);
  const takers = loaded.flatMap(({ ready, session }) => TurnTaker.of(ready, session.turns, clock) ?? []);
  const areShort = takers.length === loaded.length;
  const { waitSeconds, load, byTurns } = plan;
  const { turnSeconds } = byTurns ?? { turnSeconds: TURN_SECONDS.comparison };
  const needs = {
    sides: loaded.length,
    windowSeconds: sizeWindow(plan, { cycleSeconds, connections: only?.ready.spec.connections ?? 1 }),
    cycleSeconds,
    waitSeconds,
    turnSeconds,
    turnAnswers: comparesByTurns(plan) ? TURN_ANSWERS.comparison : TURN_ANSWERS.table,
    areShort,
  };
  const turns = planTurns(needs);
  if (areShort) {
    await takeTurns(loaded, takers, turns, loading);
    if (plan.control === undefined) return;
    const { targets, share } = plan.control;
    const windowSeconds = controlSeconds(needs.windowSeconds);
    const controlled = planTurns({ ...needs, sides: 2, windowSeconds });
    for (const one of loaded)
      if (targets.includes(one.side.planned.target)) await takeControl(one, controlled, share, loading);
    return;
  }
  const { order, rampSeconds, spanSeconds } = turns;
  const window = { warmupSeconds: rampSeconds, windowSeconds: spanSeconds, load };
  await openWindows(
    loaded,
    order.map((turn) => ({ turn, window })),
    outlive,
  );
}

/** Opens windows in this order, each sampled and reported in full. */
async function openWindows(
  loaded: readonly Loaded[],
  windows: readonly { turn: number; window: Window }[],
  outlive: Outlive,
): Promise<void> {
  for (const { turn, window } of windows) {
    const one = loaded[turn] as Loaded;
    await attempt(one.side.outcome, async () => {
      const { load, sampled } = await openWindow(one, window, {
        outlive,
        ours: oursBeside(loaded, one.side),
      });
      if (window.windowSeconds === 0) return;
      one.side.load = load;
      if (sampled !== undefined) one.side.samples.push(sampled);
    });
  }
}

/** Opens one window; without a length, only warms up. */
async function openWindow(
  { side, ready, session, death }: Loaded,
  window: Window,
  { outlive, ours }: { outlive: Outlive; ours: number[] },
): Promise<WindowResult> {
  const { life, trial } = side;
  const seconds = window.warmupSeconds + window.windowSeconds;
  await outlive(() => life.renewToken(seconds, { session, trial }), death);
  if (window.windowSeconds === 0)
    return { load: await outlive(() => session.fire(window, () => {}), death), sampled: undefined };
  using during = life.duringLoad();
  const run = (): Promise<WindowResult> =>
    runWindow(session, window, {
      sampler: ready.sampler,
      ours,
      onOpened: () => life.noteAge(trial),
      onClosed: () => during[Symbol.dispose](),
    });
  // Not before the window has closed may what runs during the load end.
  return await outlive(run, death);
}

/** The closed loop before a search, whose pace tells the first rate: its shortest time, and the responses of a connection. */
const PACE_SECONDS = 0.5;
const PACE_CYCLES = 3;

/** Takes open loops on one server, each apart, on the same connections. */
class OpenLoops {
  readonly #one: Loaded;
  readonly #plan: Plan;
  readonly #context: { outlive: Outlive; ours: number[] };
  #taken = 0;

  constructor(one: Loaded, { plan, outlive }: Loading) {
    this.#one = one;
    this.#plan = plan;
    this.#context = { outlive, ours: oursBeside([one], one.side) };
  }

  /** Opens a window in a closed loop. */
  async warmUp(window: Omit<Window, 'load'>): Promise<LoadResult> {
    return (
      await openWindow(this.#one, { ...window, load: { mode: 'closed', ...this.#connecting } }, this.#context)
    ).load;
  }

  /** Returns the seed of the gaps of the next loop: targets of one round get the same gaps. */
  gaps(): { gapSeed: number } {
    const { round } = this.#one.side.planned;
    return { gapSeed: this.#plan.seed + GAP_SEEDS * (GAP_SEEDS * round + this.#taken++) };
  }

  async take(step: PlannedStep): Promise<MeasuredStep> {
    const load = { mode: 'open', perSecond: step.perSecond, ...this.#connecting } as const;
    const window: Window = {
      warmupSeconds: step.rampSeconds,
      windowSeconds: step.seconds,
      load,
      ...this.gaps(),
      isApart: true,
    };
    return { ...step, ...(await openWindow(this.#one, window, this.#context)) };
  }

  /** Measures the other loads of the plan; shares are of this capacity. */
  async measureCurve(capacity = 0): Promise<void> {
    const { load } = this.#plan;
    const { side } = this.#one;
    const points = 'curve' in load ? (load.curve ?? []) : [];
    await attempt(side.outcome, async () => {
      const curve: Curve = [];
      for (const point of points) {
        const perSecond = 'share' in point ? point.share * capacity : point.perSecond;
        const seconds = curveStepSeconds(this.#plan, perSecond);
        curve.push({
          ...('share' in point && point),
          ...(await this.take({ perSecond, rampSeconds: CURVE.rampSeconds, seconds })),
        });
      }
      if (curve.length > 0) side.curve = curve;
    });
  }

  get #connecting(): Pick<LoadMode, 'newConnections'> {
    const { newConnections } = this.#plan.load;
    return newConnections === true ? { newConnections } : {};
  }
}

/** Warms up a server in a closed loop, and searches its capacity by open loops on the same connections. */
async function searchCapacity(
  one: Loaded,
  { promises }: Extract<LoadMode, { mode: 'promise' }>,
  loading: Loading,
): Promise<void> {
  const { side } = one;
  const { plan } = loading;
  const loops = new OpenLoops(one, loading);
  await attempt(side.outcome, async () => {
    const cycleSeconds = await warmSides([one], loading);
    if (side.outcome.failed) return;
    const pace = { warmupSeconds: Math.max(PACE_SECONDS, PACE_CYCLES * cycleSeconds), windowSeconds: 0 };
    const pacePerSecond = paceOf(await loops.warmUp(pace), pace.warmupSeconds);
    const { windowSeconds } = plan;
    const search = new CapacitySearch(promises, {
      seconds: windowSeconds,
      pacePerSecond,
      earlier: side.life.earlier,
      isBrief: plan.sequentialTest !== undefined,
    });
    const steps: MeasuredStep[] = [];
    for (let step = search.next(); step !== undefined; step = search.next()) {
      const measured = await loops.take(step);
      search.add(step, measured.load);
      steps.push(measured);
    }
    const found = search.result();
    await loops.measureCurve(found.perSecond);
    const { load, sampled } = steps[found.nearest] as MeasuredStep;
    side.load = load;
    side.search = { found, pacePerSecond, steps };
    const all = joinSampled(steps.flatMap((step) => step.sampled ?? []));
    // What disturbed any of the steps disturbed the search.
    if (sampled !== undefined && all !== undefined) side.samples.push({ ...sampled, host: all.host });
  });
}

/**
 * Takes short turns in order, and reads the result of each side at the end. Before and after the turns, all sides are idle: until
 * the work that answers have left for later is done, and then to watch their upkeep. Requests that are measured one at a time share
 * the upkeep that was seen before the first of them.
 */
async function takeTurns(
  loaded: readonly Loaded[],
  takers: readonly TurnTaker[],
  turns: TurnPlan,
  { plan, outlive, clock }: Loading,
): Promise<void> {
  const isShared = loaded.some(({ side: { life } }) => life.trials.length > 1);
  const watch = async (): Promise<void> => {
    for (const index of loaded.keys()) await step(index, async (_, { ready }) => beginWatch(ready));
    await pause(watchSeconds(plan));
    for (const index of loaded.keys()) await step(index, async (_, { ready }) => endWatch(ready));
  };
  /** Ends early if all servers have ended. */
  const pause = async (seconds: number): Promise<void> => {
    const index = loaded.findIndex(({ side }) => !side.outcome.failed);
    if (index !== -1) await step(index, () => clock.pause(seconds));
  };
  const step = (index: number, act: (taker: TurnTaker, one: Loaded) => Promise<void>): Promise<void> => {
    const one = loaded[index] as Loaded;
    return attempt(one.side.outcome, () => outlive(() => act(takers[index] as TurnTaker, one), one.death));
  };
  if (!isShared || !loaded.every(({ ready }) => isWatched(ready))) {
    await pause(QUIET_SECONDS.deferred);
    await watch();
  }
  for (const [index, { side }] of loaded.entries())
    await step(index, (taker) => taker.begin(oursBeside(loaded, side)));
  const begun = new Set<Side>();
  for (const [place, turn] of turns.order.entries()) {
    await step(turn, async (taker, { side, silence, session }) => {
      await side.life.renewToken(turns.rampSeconds + turns.spanSeconds, {
        session,
        trial: side.trial,
        aside: (login) => taker.aside(login),
      });
      if (!begun.has(side)) side.life.noteAge(side.trial);
      begun.add(side);
      await silence.during(async () => (await taker.take(turns, place)).answers);
    });
  }
  await pause(isShared ? QUIET_SECONDS.betweenRequests : QUIET_SECONDS.deferred);
  for (const index of loaded.keys()) await step(index, (taker) => taker.close());
  if (!isShared) await watch();
  for (const index of loaded.keys()) {
    await step(index, async (taker, { side }) => {
      const { load: result, sampled, turns: taken } = await taker.result();
      side.load = result;
      side.turns = taken;
      if (sampled !== undefined) side.samples.push(sampled);
    });
  }
  const found = judgeTurns(
    loaded.map(({ side: { planned, turns: taken, samples } }) => ({
      target: planned.target,
      turns: taken,
      hosts: samples.map(({ host }) => host),
    })),
  );
  noteAll(loaded, found);
}

/**
 * Takes the turns of a control on one server, once its own figures are complete. What fails here, but for the end of the server,
 * takes nothing from them.
 */
async function takeControl(
  { side, ready, session, death, silence }: Loaded,
  turns: TurnPlan,
  share: number,
  { outlive, clock }: Loading,
): Promise<void> {
  const { life, trial, turns: taken } = side;
  const { metered, spec } = ready;
  const { turns: short } = session;
  // Requests that are sent once each may be used up.
  const isOnce = spec.routes?.some(({ once }) => once === true) === true;
  if (taken === undefined || metered === undefined || short === undefined || isOnce) return;
  const control = async (): Promise<Control | undefined> => {
    await using burner = await ready.startBurner();
    if (burner === undefined) return undefined;
    const planting = { share, turns: turns.order.length / 2 };
    const taker = await ControlTaker.begin({ metered, burner, clock, taken }, planting);
    for (const turn of turns.order) {
      await life.renewToken(turns.rampSeconds + turns.spanSeconds, { session, trial });
      await silence.during(() => taker.take(short, turns, turn === 1));
    }
    return await taker.end();
  };
  await attempt(side.outcome, async () => {
    side.control = await outlive(() => control().catch(() => undefined), death);
  });
}

/** Returns the processes beside a server whose CPU belongs to the measurement. */
function oursBeside(loaded: readonly Loaded[], side: Side): number[] {
  const session = loaded.find((one) => one.side === side)?.session;
  const others = loaded.filter((one) => one.side !== side).flatMap(({ ready }) => ready.pids);
  return [...(session?.pids ?? []), ...others];
}

/** Plans the single window of a server that is loaded alone. */
function wholeWindow({ windowSeconds, load }: Plan): Omit<Window, 'warmupSeconds'> {
  return {
    windowSeconds: load.mode === 'amount' ? AMOUNT_SECONDS : windowSeconds,
    load,
  };
}

/** The load before each further part of a window, in seconds: its connections were idle while the login was sent. */
const RAMP_SECONDS = 0.1;

/** Splits a window with the ramp before it into parts that are no longer than a token is used; one part if nothing is renewed. */
export function splitWindow(whole: Window, everySeconds = Infinity): Window[] {
  const { warmupSeconds, windowSeconds } = whole;
  if (warmupSeconds + windowSeconds <= everySeconds) return [whole];
  const windows = Math.ceil(windowSeconds / Math.max(everySeconds - RAMP_SECONDS, RAMP_SECONDS) - 1e-9);
  return Array.from({ length: windows }, () => ({
    ...whole,
    warmupSeconds: Math.min(warmupSeconds, RAMP_SECONDS),
    windowSeconds: windowSeconds / windows,
  }));
}

/** Returns a side as a server to warm up; for exactly this time if it is given, in seconds. */
function warmableOf(
  { side, ready, session, death, silence }: Loaded,
  { outlive, seconds }: Loading,
): Warmable {
  const { life, trial, outcome } = side;
  return {
    life,
    trial,
    trials: trial === undefined ? life.trials : [trial],
    ready,
    session,
    hasFailed: () => outcome.failed,
    attempt: (step) => attempt(outcome, () => outlive(step, death)),
    // Until its first window, a connection keeps itself alive by occasional requests. Later it is silent between windows.
    during: (step) => silence.during(step),
    ...present({ seconds: seconds(side) }),
  };
}

/** Warms up sides by turns. Returns the time between the responses of a connection, in seconds, of the slowest to answer. */
async function warmSides(loaded: readonly Loaded[], loading: Loading): Promise<number> {
  const { plan } = loading;
  const compares = loaded.length > 1 && comparesByTurns(plan);
  // What works beside the load does so in the warm-up too, and ends with the window.
  for (const { side } of loaded) side.life.duringLoad();
  const servers = loaded.map((one) => warmableOf(one, loading));
  const { cycleSeconds, trends } = await warmUp(servers, plan, { compares });
  const targets = loaded.map(({ side }) => side.planned.target);
  noteAll(loaded, explainTrends(trends, targets, 'after the warm-up'));
  return cycleSeconds;
}

/** Notes the reasons against each side. */
function noteAll(loaded: readonly Loaded[], reasons: readonly Reason[][]): void {
  for (const [index, { side }] of loaded.entries())
    for (const reason of reasons[index] ?? []) side.outcome.note(reason);
}

/** Takes a step of the generators. Throws if its server dies. */
type Outlive = <T>(begin: () => Promise<T>, death: Promise<never>) => Promise<T>;

/**
 * Lets generators outlive servers that end. A death is thrown after the current step, when the generators can turn to
 * another server. It is thrown at once if all servers have ended, as an interrupt ends them.
 */
function outliveAmong(deaths: Promise<never>[]): Outlive {
  let isOver = false;
  const end = Promise.allSettled(deaths).then(() => {
    isOver = true;
  });
  return async (begin, death) => {
    // The generators may still be busy with another server.
    if (isOver) return death;
    const step = begin();
    try {
      return await Promise.race([step, death]);
    } catch (error) {
      await Promise.race([Promise.allSettled([step]), end]);
      throw error;
    }
  };
}

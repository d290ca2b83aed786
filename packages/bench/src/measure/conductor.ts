/** The conductor: starts fresh servers together, loads them in turn, and makes a record of each. A single trial has one server. */

import {
  comparesByTurns,
  QUIET_SECONDS,
  ROUTE_SECONDS,
  TURN_SECONDS,
  watchSeconds,
  controlSeconds,
} from 'bench-model/planned';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import type { Control } from 'bench-model/measured';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { TURN_ANSWERS } from '../plan/by-turns.ts';
import { planTurns, sizeWindow, type TurnPlan } from '../plan/turns.ts';
import type { TrialContext, TrialEffects } from './effects.ts';
import { ServerLife, type ReadyServer } from './life.ts';
import type { Window } from 'bench-load/engine';
import type { Clock } from 'bench-machine/resources/cpu-meter';
import { orUndefined } from 'bench-model/errors';
import { joinSampled } from 'bench-machine/resources/sampler';
import { explainTrends, judgeTurns } from 'bench-analysis/judge/trend';
import { mean } from 'bench-statistics/numbers';
import { ControlTaker } from './control.ts';
import { attempt, Generators, openWindow, sideOf, withSessions, type Loaded, type Side } from './loaded.ts';
import { OpenLoops, searchCapacity } from './open-loops.ts';
import { TurnTaker } from './turns.ts';
import { rampOf, warmUp } from './warm-up.ts';

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
  const trials = servers.flatMap(({ life, ready }) => life.trials.map((trial) => ({ life, ready, trial })));
  const sides = trials.map(({ life, ready, trial }) => sideOf(life, ready, trial));
  const [first] = entries;
  if (first !== undefined) await loadAll(servers, sides, first, effects);
  for (const { life } of servers) await attempt(life, () => life.afterLoad());
  for (const [index, { life, trial }] of trials.entries()) {
    const { samples, result } = sides[index] as Side;
    const { load } = result;
    await attempt(trial, async () => {
      if (load !== undefined) await life.take({ ...result, load, sampled: joinSampled(samples) }, trial);
    });
  }
  const ended = (await Promise.all(lives.map((life) => life.end()))).flat();
  return entries.flatMap(({ planned }) => ended.find(({ id }) => id === planned.id) ?? []);
}

interface StartedServer {
  life: ServerLife;
  ready: ReadyServer;
}

interface Loading {
  plan: Plan;
  clock: Clock;
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
  if (isShared) {
    const warmed = sides.filter(
      ({ trial, life: own }) => trial !== undefined && own.requests.isWarmedUp(trial),
    );
    for (const side of warmed) side.warmupSeconds = ROUTE_SECONDS.warmup;
    const whole = servers
      .filter((server) => warmed.some((side) => side.life === server.life))
      .map((server) => sideOf(server.life, server.ready));
    await withSessions(whole, { plan, generators }, async (loaded) => {
      await warmSides(loaded, plan);
    });
  }
  for (const own of Map.groupBy(sides, ({ outcome }) => outcome.planned.route).values()) {
    const here = own.filter(({ outcome }) => !outcome.failed);
    if (isShared) for (const one of here) await attempt(one.outcome, () => one.life.rest());
    await withSessions(here, { plan, generators }, (loaded) => loadInTurn(loaded, { plan, clock }));
  }
}

/** Warms up the sides, and opens their windows in turn. */
async function loadInTurn(loaded: readonly Loaded[], loading: Loading): Promise<void> {
  const { plan, clock } = loading;
  const { waitSeconds, load, byTurns } = plan;
  const [only, ...others] = loaded;
  if (only === undefined) return;
  if (load.mode === 'promise') {
    await searchCapacity(only, plan, load.promises, () => warmSides([only], plan));
    return;
  }
  const cycleSeconds = await warmSides(loaded, plan);
  if (others.length === 0) {
    await loadAlone(only, cycleSeconds, plan);
    return;
  }
  const turning = loaded.flatMap((one) => {
    const taker = TurnTaker.of(one.side.ready, one.session.turns, clock);
    return taker === undefined ? [] : [{ ...one, taker }];
  });
  const areShort = turning.length === loaded.length;
  const { connections } = only.side.spec;
  const needs = {
    sides: loaded.length,
    windowSeconds: sizeWindow(plan, { cycleSeconds, connections }),
    cycleSeconds,
    waitSeconds,
    turnSeconds: byTurns?.turnSeconds ?? TURN_SECONDS.comparison,
    turnAnswers: comparesByTurns(plan) ? TURN_ANSWERS.comparison : TURN_ANSWERS.table,
    areShort,
  };
  const turns = planTurns(needs);
  if (areShort) {
    await takeTurns(turning, turns, loading);
    if (plan.control === undefined) return;
    const { targets, share } = plan.control;
    const windowSeconds = controlSeconds(needs.windowSeconds);
    const controlled = planTurns({ ...needs, sides: 2, windowSeconds });
    for (const one of loaded)
      if (targets.includes(one.side.outcome.planned.target)) await takeControl(one, controlled, share, clock);
    return;
  }
  const { order, rampSeconds, spanSeconds } = turns;
  const window = { warmupSeconds: rampSeconds, windowSeconds: spanSeconds, load };
  for (const turn of order) await takeWindow(loaded[turn] as Loaded, window);
}

/** Opens the window of a server that is loaded alone, and then the open loops at other loads of the plan. */
async function loadAlone(one: Loaded, cycleSeconds: number, plan: Plan): Promise<void> {
  const { load } = plan;
  const loops = load.mode === 'open' && load.curve !== undefined ? new OpenLoops(one, plan) : undefined;
  const whole: Window = {
    warmupSeconds: rampOf(one, plan, cycleSeconds),
    windowSeconds: load.mode === 'amount' ? AMOUNT_SECONDS : plan.windowSeconds,
    load,
    ...loops?.gaps(),
  };
  for (const window of splitWindow(whole, plan.userRequests?.login?.every)) await takeWindow(one, window);
  await loops?.measureCurve();
}

async function takeWindow(one: Loaded, window: Window): Promise<void> {
  const { side } = one;
  await attempt(side.outcome, async () => {
    const { load, sampled } = await openWindow(one, window);
    if (window.windowSeconds === 0) return;
    side.result.load = load;
    if (sampled !== undefined) side.samples.push(sampled);
  });
}

interface Turning extends Loaded {
  taker: TurnTaker;
}

/**
 * Takes short turns in order, and reads the result of each side at the end. Before and after the turns, all sides are idle: until
 * the work that answers have left for later is done, and then to watch their upkeep. Requests that are measured one at a time share
 * the upkeep that was seen before the first of them.
 */
async function takeTurns(
  turning: readonly Turning[],
  turns: TurnPlan,
  { plan, clock }: Loading,
): Promise<void> {
  const isShared = turning.some(({ side: { life } }) => life.trials.length > 1);
  const each = async (act: (one: Turning) => Promise<void>): Promise<void> => {
    for (const one of turning) await one.attempt(() => act(one));
  };
  /** Ends early if all servers have ended. */
  const pause = async (seconds: number): Promise<void> =>
    turning.find(({ side }) => !side.outcome.failed)?.attempt(() => clock.pause(seconds));
  /** The end of a companion is no fault of the server. */
  const markWatch = (edge: 'begin' | 'end'): Promise<void> =>
    each(async ({ side: { ready } }) => {
      ready.upkeep?.[edge]();
      for (const { upkeep } of ready.beside ?? []) orUndefined(() => upkeep[edge]());
    });
  const watch = async (): Promise<void> => {
    await markWatch('begin');
    await pause(watchSeconds(plan));
    await markWatch('end');
  };
  const meters = turning.flatMap(({ side }) => side.ready.upkeep ?? []);
  if (!isShared || !meters.every(({ usPerSecond }) => usPerSecond !== undefined)) {
    await pause(QUIET_SECONDS.deferred);
    await watch();
  }
  await each(({ taker, ours }) => taker.begin(ours()));
  const begun = new Set<Side>();
  for (const [place, turn] of turns.order.entries()) {
    const { side, taker, silence, session, attempt: attemptIt } = turning[turn] as Turning;
    const { life, trial } = side;
    await attemptIt(async () => {
      await life.requests.renewToken(turns.rampSeconds + turns.spanSeconds, {
        session,
        trial,
        aside: (login) => taker.aside(login),
      });
      if (!begun.has(side)) life.noteAge(trial);
      begun.add(side);
      await silence.during(async () => (await taker.take(turns, place)).answers);
    });
  }
  await pause(isShared ? QUIET_SECONDS.betweenRequests : QUIET_SECONDS.deferred);
  await each(({ taker }) => taker.close());
  if (!isShared) await watch();
  await each(async ({ taker, side }) => {
    const { load, sampled, turns: taken } = await taker.result();
    Object.assign(side.result, { load, turns: taken });
    if (sampled !== undefined) side.samples.push(sampled);
  });
  const found = judgeTurns(
    turning.map(({ side: { outcome, result, samples } }) => ({
      target: outcome.planned.target,
      turns: result.turns,
      hosts: samples.map(({ host }) => host),
    })),
  );
  noteAll(turning, found);
}

/**
 * Takes the turns of a control on one server, once its own figures are complete. What fails here, but for the end of the server,
 * takes nothing from them.
 */
async function takeControl(
  { side, session, silence, outlive }: Loaded,
  turns: TurnPlan,
  share: number,
  clock: Clock,
): Promise<void> {
  const { life, trial, ready, spec, result } = side;
  const { upkeep } = ready;
  const { cpuUs } = result.turns ?? {};
  const { turns: short } = session;
  // Requests that are sent once each may be used up.
  const isOnce = spec.routes?.some(({ once }) => once === true) === true;
  if (cpuUs === undefined || upkeep === undefined || short === undefined || isOnce) return;
  const control = async (): Promise<Control | undefined> => {
    await using burner = await ready.startBurner();
    if (burner === undefined) return undefined;
    const halfUs = (share * mean(cpuUs)) / 2;
    const planting = { halfUs, turns: turns.order.length / 2, usedUs: await burner.burn(0) };
    const taker = new ControlTaker({ upkeep, burner, clock }, planting);
    for (const turn of turns.order) {
      await life.requests.renewToken(turns.rampSeconds + turns.spanSeconds, { session, trial });
      await silence.during(() => taker.take(short, turns, turn === 1));
    }
    return await taker.end();
  };
  await attempt(side.outcome, async () => {
    result.control = await outlive(() => control().catch(() => undefined));
  });
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

/** Warms up sides by turns. Returns the time between the responses of a connection, in seconds, of the slowest to answer. */
async function warmSides(loaded: readonly Loaded[], plan: Plan): Promise<number> {
  const compares = loaded.length > 1 && comparesByTurns(plan);
  // What works beside the load does so in the warm-up too, and ends with the window.
  for (const { side } of loaded) side.life.duringLoad();
  const { cycleSeconds, trends } = await warmUp(loaded, plan, { compares });
  const targets = loaded.map(({ side }) => side.outcome.planned.target);
  noteAll(loaded, explainTrends(trends, targets, 'after the warm-up'));
  return cycleSeconds;
}

function noteAll(loaded: readonly Loaded[], reasons: readonly Reason[][]): void {
  for (const [index, { side }] of loaded.entries()) side.outcome.add(...(reasons[index] ?? []));
}

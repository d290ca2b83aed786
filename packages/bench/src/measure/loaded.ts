/** Running servers with their generators: how they are loaded, and what becomes of a step that fails. */
import { AsyncDisposableStack, DisposableStack } from '@whatwg-node/disposablestack';
import type { Plan } from 'bench-model/plan';
import type { LoadEngine, LoadSession, Window } from 'bench-load/engine';
import type { LoadSpec } from 'bench-load/protocol';
import type { Sampled } from 'bench-machine/resources/sampler';
import type { ReadyServer, ServerLife } from './life.ts';
import type { LifeTrial } from './trial.ts';
import { Silence, watchForDeath, type WindowResult } from './window.ts';

/** The load on a running server for one of its trials, and the results so far. */
export interface Side {
  life: ServerLife;
  /** The trial; undefined for a load before all trials of the server. */
  trial: LifeTrial | undefined;
  /** The trial or, before all of them, the server: a failure of the load is its failure. */
  outcome: LifeTrial | ServerLife;
  ready: ReadyServer;
  /** Its load, with the token of now. */
  spec: LoadSpec;
  /** Its exact warm-up, in seconds; absent if it ends when the server is warm. */
  warmupSeconds?: number;
  samples: Sampled[];
  result: Partial<Omit<WindowResult, 'sampled'>>;
}

/** Returns the side of a trial, or of the load before all trials of a server. */
export function sideOf(life: ServerLife, ready: ReadyServer, trial?: LifeTrial): Side {
  const spec = life.specOf(trial);
  return { life, trial, outcome: trial ?? life, ready, spec, samples: [], result: {} };
}

/** Takes one step with a server or a trial that has not failed. A failure in it affects only that one. */
export async function attempt(
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
export interface Loaded {
  side: Side;
  session: LoadSession;
  silence: Silence;
  /** Returns the processes beside its server whose CPU belongs to the measurement: generators, and the other servers. */
  ours: () => number[];
  /** Takes a step of the generators. Throws if it fails, or if the server ends. */
  outlive: <T>(step: () => Promise<T>) => Promise<T>;
  /** Takes such a step if the side has not failed. A failure in it affects only this side. */
  attempt: (step: () => Promise<void>) => Promise<void>;
}

/** The generator processes of all loads on servers that are up together: other requests begin with warm ones. */
export class Generators implements AsyncDisposable {
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
export async function withSessions(
  sides: readonly Side[],
  { plan, generators }: { plan: Plan; generators: Generators },
  use: (loaded: readonly Loaded[]) => Promise<void>,
): Promise<void> {
  if (sides.length === 0) return;
  try {
    for (const side of sides) {
      const { life, trial, outcome } = side;
      await attempt(outcome, () => life.requests.renewToken(0));
      side.spec = life.specOf(trial);
    }
    await using sessions = new AsyncDisposableStack();
    using watches = new DisposableStack();
    const deaths = sides.map(({ ready }) => watches.use(watchForDeath(ready.server)).promise);
    const outlive = outliveAmong(deaths);
    const loaded: Loaded[] = [];
    for (const [index, side] of sides.entries()) {
      const { life, spec, outcome } = side;
      const session = await generators.open(spec);
      // A generator that has failed has failed its sides before.
      sessions.defer(() => session.leave?.().catch(() => {}));
      sessions.defer(async () => {
        // Undefined if its generators failed, or if its engine keeps no account.
        const lifetime = await session.count?.().catch(() => undefined);
        if (lifetime !== undefined) life.account(lifetime);
      });
      const own: Loaded['outlive'] = (step) => outlive(step, deaths[index] as Promise<never>);
      loaded.push({
        side,
        session,
        silence: new Silence(plan.timeoutSeconds),
        ours() {
          const others = sides.filter((other) => other !== side).flatMap((other) => other.ready.pids);
          return [...(session.pids ?? []), ...others];
        },
        outlive: own,
        attempt: (step) => attempt(outcome, () => own(step)),
      });
    }
    for (const one of loaded) await one.attempt(() => one.session.arm());
    await use(loaded);
  } catch (error) {
    for (const { outcome } of sides) if (!outcome.failed) outcome.fail(error);
  }
  // They may have failed, or still wait for a server.
  if (sides.some(({ outcome }) => outcome.failed)) await generators[Symbol.asyncDispose]();
}

/** Opens one window; without a length, only warms up. */
export async function openWindow(
  { side, session, outlive, ours }: Loaded,
  window: Window,
): Promise<WindowResult> {
  const { life, trial } = side;
  const { sampler } = side.ready;
  const seconds = window.warmupSeconds + window.windowSeconds;
  await outlive(() => life.requests.renewToken(seconds, { session, trial }));
  if (window.windowSeconds === 0)
    return { load: await outlive(() => session.fire(window, () => {})), sampled: undefined };
  using during = life.duringLoad();
  // Not before the window has closed may what runs during the load end.
  return await outlive(async () => {
    const marks: { opened?: Promise<void>; closed?: Promise<Sampled> } = {};
    const load = await session.fire(window, (edge) => {
      if (edge === 'opened') life.noteAge(trial);
      else during[Symbol.dispose]();
      if (sampler === undefined) return;
      if (edge === 'opened') marks.opened = sampler.start(ours());
      else marks.closed = sampler.stop();
      // Its error is thrown after the window. Unhandled until then, it would end the harness.
      marks[edge]?.catch(() => {});
    });
    await marks.opened;
    return { load, sampled: await marks.closed };
  });
}

/**
 * Lets generators outlive servers that end. A death is thrown after the current step, when the generators can turn to
 * another server. It is thrown at once if all servers have ended, as an interrupt ends them.
 */
function outliveAmong(
  deaths: Promise<never>[],
): <T>(begin: () => Promise<T>, death: Promise<never>) => Promise<T> {
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

/** Loading one server that stands: its connections, its window with the sampler beside it, and what becomes of it if it dies. */

import { BenchError } from '../errors.ts';
import type { BackgroundUse, Counts, LimitProof, LoadResult } from '../model.ts';
import type { Plan } from '../plan.ts';
import type { Background } from './background.ts';
import { describeEnd, type Server } from './launch.ts';
import type { LoadEngine, LoadSession, Window } from './load/engine.ts';
import type { LoadSpec } from './load/protocol.ts';
import type { Placed } from './placement.ts';
import { joinSampled, type Sampled, type Sampler } from './resources/sampler.ts';

const POLL_MS = 20;

/** A server that stands and has proven itself, and what it is to be asked. */
export interface Raised {
  server: Server;
  spec: LoadSpec;
  sampler: Sampler | undefined;
  /** Begins to disturb it; undefined where nothing is to. */
  disturb: (() => Background) | undefined;
}

/** What one window gave. */
export interface Fired {
  load: LoadResult;
  sampled: Sampled | undefined;
  /** Where the server was disturbed. */
  background?: BackgroundUse | undefined;
}

/** What a server is loaded with. */
export interface Firing {
  plan: Plan;
  engine: LoadEngine;
  /** Is told what has become of everything that was sent, also when the server dies. */
  account: (lifetime: Counts) => void;
}

/** An amount of requests has no fixed end; this is how long it may take at the most. */
const AMOUNT_SECONDS = 600;

/** Arms, fires one window with the sampler beside it, and ends the generators. Throws when the server dies in it. */
export async function loadServer(
  { server, spec, sampler, disturb }: Raised,
  { plan, engine, account }: Firing,
  processes = plan.generators,
): Promise<Fired> {
  await using session = engine.open(spec, processes);
  await using _ = accountFor(session, account);
  using died = watchForDeath(server);
  await Promise.race([session.arm(), died.promise]);
  const window: Window = {
    warmupSeconds: plan.warmupSeconds,
    windowSeconds: plan.load.mode === 'amount' ? AMOUNT_SECONDS : plan.windowSeconds,
    load: plan.load,
  };
  using background = disturb?.();
  const fired = fireSampled(session, window, sampler, session.pids, () => background?.end());
  // Awaited here, because the session ends with this function.
  const { load, sampled } = await Promise.race([fired, died.promise]);
  const joined = joinSampled(sampled === undefined ? [] : [sampled]);
  return { load, sampled: joined, background: background?.end() };
}

/** Gives the account of a session before it ends, whatever ends it; without one where its generators broke, or their engine has none. */
export function accountFor(session: LoadSession, account: (lifetime: Counts) => void): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      const lifetime = await session.count?.().catch(() => undefined);
      if (lifetime !== undefined) account(lifetime);
    },
  };
}

/** Fires one window with the sampler beside it; `ours` are processes that do not count as others. */
export async function fireSampled(
  session: LoadSession,
  window: Window,
  sampler: Sampler | undefined,
  ours: number[],
  onClosed: () => void = () => {},
): Promise<Fired> {
  const marks: Promise<unknown>[] = [];
  let sampled: Sampled | undefined;
  const closeSample = async (): Promise<void> => {
    sampled = await sampler?.stop();
  };
  const load = await session.fire(window, (edge) => {
    if (edge === 'closed') onClosed();
    if (sampler === undefined) return;
    const mark = edge === 'opened' ? sampler.start(ours) : closeSample();
    // What it throws is thrown after the window; unhandled until then, it would end the harness.
    mark.catch(() => {});
    marks.push(mark);
  });
  await Promise.all(marks);
  return { load, sampled };
}

/** Measures once more with one generator more, where a core is free for it. */
export async function proveLimit(
  raised: Raised,
  firing: Firing,
  { placement }: Placed,
  first: LoadResult,
): Promise<LimitProof> {
  const free =
    placement.kind === 'separate' ? (placement.generator?.length ?? 0) - firing.plan.generators : 0;
  if (free < 1) return { unproven: 'no core is free for one generator more' };
  try {
    const { load } = await loadServer({ ...raised, sampler: undefined }, firing, firing.plan.generators + 1);
    return { goodputPerSecond: load.goodputPerSecond, ratio: load.goodputPerSecond / first.goodputPerSecond };
  } catch (error) {
    // The first window stands, whatever became of the second.
    return { unproven: error instanceof Error ? error.message : String(error) };
  }
}

/** Rejects when the server ends while it is being loaded. */
export function watchForDeath(server: Server): { promise: Promise<never> } & Disposable {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    const end = describeEnd(server);
    if (end !== undefined) reject(new BenchError('trial', `the server died under load (${end})`));
  }, POLL_MS);
  promise.catch(() => {});
  return { promise, [Symbol.dispose]: () => clearInterval(timer) };
}

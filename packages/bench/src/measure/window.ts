/** One window on a server: the load, the sampler, and the death of the server. */

import { TrialError } from 'bench-model/errors';
import type { Counts } from 'bench-model/figures';
import type { LoadResult } from 'bench-model/load';
import type { Control, Turns } from 'bench-model/measured';
import type { Curve, Search } from './capacity.ts';
import { describeEnd, type Server } from 'bench-machine/launch';
import type { LoadSession, Window } from 'bench-load/engine';
import type { Sampled, Sampler } from 'bench-machine/resources/sampler';

const POLL_MS = 20;

/** The result of one window. */
export interface WindowResult {
  load: LoadResult;
  /** Undefined if the process of the server is unknown. */
  sampled: Sampled | undefined;
  /** The turns of servers whose turns are short. */
  turns?: Turns | undefined;
  /** What was planted into further turns, and read. */
  control?: Control | undefined;
  /** The search of a capacity, of which the load is one step. */
  search?: Search | undefined;
  /** Open loops at other loads. */
  curve?: Curve | undefined;
}

/** Runs one window and samples it. `ours` are processes whose CPU belongs to the measurement. */
export async function runWindow(
  session: LoadSession,
  window: Window,
  {
    sampler,
    ours,
    onOpened,
    onClosed,
  }: {
    sampler: Sampler | undefined;
    ours: number[];
    onOpened: () => void;
    onClosed: () => void;
  },
): Promise<WindowResult> {
  const marks: Promise<unknown>[] = [];
  let sampled: Sampled | undefined;
  const closeSample = async (): Promise<void> => {
    sampled = await sampler?.stop();
  };
  const load = await session.fire(window, (edge) => {
    if (edge === 'opened') onOpened();
    else onClosed();
    if (sampler === undefined) return;
    const mark = edge === 'opened' ? sampler.start(ours) : closeSample();
    // Its error is thrown after the window. Unhandled until then, it would end the harness.
    mark.catch(() => {});
    marks.push(mark);
  });
  await Promise.all(marks);
  return { load, sampled };
}

/** Passes the account of a session to `take` on disposal, unless its generators failed or its engine keeps no account. */
export function accountFor(session: LoadSession, take: (lifetime: Counts) => void): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      const lifetime = await session.count?.().catch(() => undefined);
      if (lifetime !== undefined) take(lifetime);
    },
  };
}

/** Rejects if the server ends under load. */
export function watchForDeath(server: Server): { promise: Promise<never> } & Disposable {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    const end = describeEnd(server);
    if (end !== undefined) reject(new TrialError(`the server died under load (${end})`));
  }, POLL_MS);
  promise.catch(() => {});
  return { promise, [Symbol.dispose]: () => clearInterval(timer) };
}

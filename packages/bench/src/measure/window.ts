/** One window on a server: the load, the sampler beside it, and what happens if the server dies in it. */

import { BenchError } from '../errors.ts';
import type { Counts } from '../model.ts';
import type { LoadResult } from '../results/record.ts';
import { describeEnd, type Server } from '../machine/launch.ts';
import type { LoadSession, Window } from '../load/engine.ts';
import type { Sampled, Sampler } from '../resources/sampler.ts';

const POLL_MS = 20;

/** What one window gave. */
export interface WindowResult {
  load: LoadResult;
  /** Undefined when the server's process is not known. */
  sampled: Sampled | undefined;
}

/** Runs one window with the sampler beside it; `ours` are processes whose CPU belongs to the measurement. */
export async function runWindow(
  session: LoadSession,
  window: Window,
  { sampler, ours, onClosed }: { sampler: Sampler | undefined; ours: number[]; onClosed: () => void },
): Promise<WindowResult> {
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

/** On disposal hands the account of a session to `take`, whatever ends the session; not if its generators broke or its engine keeps none. */
export function accountFor(session: LoadSession, take: (lifetime: Counts) => void): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      const lifetime = await session.count?.().catch(() => undefined);
      if (lifetime !== undefined) take(lifetime);
    },
  };
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

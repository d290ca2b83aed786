/** The windows on a server: their result, and a server that dies or stops answering in them. */

import { TrialError } from 'bench-model/errors';
import type { LoadResult } from 'bench-model/load';
import type { Control, Turns } from 'bench-model/measured';
import type { Curve, Search } from './capacity.ts';
import { describeEnd, type Server } from 'bench-machine/launch';
import type { Sampled } from 'bench-machine/resources/sampler';

const POLL_MS = 20;

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

/** The silence of one server: every turn of a server that hangs waits for its open requests. */
export class Silence {
  readonly #mostSeconds: number;
  #ms = 0;

  /** A server may be silent for this long: a request that takes longer has timed out. */
  constructor(mostSeconds: number) {
    this.#mostSeconds = mostSeconds;
  }

  /** Takes a step of the load, which counts its correct responses. Throws if there has been none for too long. */
  async during(step: () => Promise<number>): Promise<void> {
    const begunMs = performance.now();
    const answers = await step();
    this.#ms = answers > 0 ? 0 : this.#ms + performance.now() - begunMs;
    if (this.#ms < this.#mostSeconds * 1000) return;
    throw new TrialError(`no correct response for ${(this.#ms / 1000).toFixed(0)} s under load`);
  }
}

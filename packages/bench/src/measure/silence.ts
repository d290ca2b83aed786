/** The time for which a server under load gives no correct response. */
import { TrialError } from 'bench-model/errors';

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

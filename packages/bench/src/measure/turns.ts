/** Short turns: servers are loaded in turn for a few ms each, and their CPU is read in the silence between. */
import type { LoadResult, Turns as RecordedTurns } from '../results/record.ts';
import type { LoadMode } from '../model.ts';
import type { Turns } from '../plan/turns.ts';
import type { ShortTurns, TurnResult } from '../load/engine.ts';
import { overTurns, type Sampled } from '../resources/sampler.ts';
import type { ReadyServer } from './life.ts';

/** The result of all turns of one server. */
export interface TurnsResult {
  load: LoadResult;
  sampled: Sampled | undefined;
  turns: RecordedTurns;
}

/** One of the servers that take short turns. */
export class TurnTaker {
  readonly #ready: ReadyServer;
  readonly #session: ShortTurns;
  readonly #taken: Required<RecordedTurns> = { answers: [], cpuUs: [], goodputPerSecond: [], places: [] };
  #seconds = 0;
  #cpuUs = 0;

  private constructor(ready: ReadyServer, session: ShortTurns) {
    this.#ready = ready;
    this.#session = session;
  }

  /**
   * Creates the taker of a server. Undefined if only long windows give its figures: its engine reports nothing else, it
   * has companions that are sampled or that work during its windows, or its CPU cannot be read between turns.
   */
  static of(ready: ReadyServer, session: ShortTurns | undefined): TurnTaker | undefined {
    if (session === undefined || ready.hasCompanions) return undefined;
    const { sampler, meter } = ready;
    if (sampler !== undefined && meter === undefined) return undefined;
    return new TurnTaker(ready, session);
  }

  /** Opens the sampler around all turns, and reads the CPU of the idle server. */
  async begin(ours: readonly number[]): Promise<void> {
    await this.#ready.sampler?.start(ours);
    this.#cpuUs = this.#ready.meter?.readUs() ?? 0;
  }

  /**
   * Takes one turn. Every answer has arrived when its CPU is read, so that CPU and answers belong together exactly. Work
   * that the server puts off until after its turn counts for the next one. `place` is that among the turns of all
   * servers; by default among its own.
   */
  async take(
    { rampSeconds, spanSeconds }: Omit<Turns, 'order'>,
    load: LoadMode,
    place = this.#taken.places.length,
  ): Promise<TurnResult> {
    const turn = await this.#session.take({ rampSeconds, windowSeconds: spanSeconds, load });
    this.#seconds += turn.seconds;
    this.#taken.places.push(place);
    this.#taken.answers.push(turn.answers);
    this.#taken.goodputPerSecond.push(Math.round(turn.goodputPerSecond * 10) / 10);
    const cpuUs = this.#ready.meter?.readUs();
    if (cpuUs === undefined) return turn;
    // A thread that exits takes its CPU with it if there is no cgroup.
    this.#taken.cpuUs.push(Math.max(0, Math.round(cpuUs - this.#cpuUs)));
    this.#cpuUs = cpuUs;
    return turn;
  }

  /** The turns so far. */
  get taken(): RecordedTurns {
    const { cpuUs, ...taken } = this.#taken;
    return this.#ready.meter === undefined ? taken : { ...taken, cpuUs };
  }

  /** Closes the sampler and returns the result of all turns. */
  async end(): Promise<TurnsResult> {
    const sampled = await this.#ready.sampler?.stop();
    return {
      load: await this.#session.collect(),
      sampled: sampled && overTurns(sampled, this.#seconds),
      turns: this.taken,
    };
  }
}

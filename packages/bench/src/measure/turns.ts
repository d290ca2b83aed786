/** Short turns: servers are loaded in turn for a few ms each, and their CPU is read in the silence before and after. */
import type { CompanionName } from 'bench-model/companions';
import type { LoadResult } from 'bench-model/load';
import type { Turns } from 'bench-model/measured';
import type { TurnPlan } from '../plan/turns.ts';
import type { ShortTurns } from 'bench-load/engine';
import type { TurnResult } from 'bench-load/protocol';
import { TurnMeter, whileItLives } from 'bench-machine/resources/cpu-meter';
import { overTurns, type Sampled } from 'bench-machine/resources/sampler';
import type { ReadyServer } from './life.ts';

/** The result of all turns of one server. */
interface TurnsResult {
  load: LoadResult;
  sampled: Sampled | undefined;
  turns: Turns;
}

/** One of the servers that take short turns. */
export class TurnTaker {
  readonly #ready: ReadyServer;
  readonly #session: ShortTurns;
  readonly #taken = {
    answers: [] as number[],
    goodputPerSecond: [] as number[],
    places: [] as number[],
  } satisfies Turns;
  readonly #cpuUs: number[] = [];
  readonly #memoryBytes: number[] = [];
  /** Undefined before `begin`, and if CPU cannot be read. */
  #meter: TurnMeter | undefined;
  /** The companions that lived at its begin. An end of theirs is no fault of the server. */
  readonly #beside = new Map<CompanionName, TurnMeter>();
  #seconds = 0;

  private constructor(ready: ReadyServer, session: ShortTurns) {
    this.#ready = ready;
    this.#session = session;
  }

  /**
   * Creates the taker of a server. Undefined if only long windows give its figures: its engine reports nothing else, or its
   * CPU or that of its companions cannot be read between turns.
   */
  static of(ready: ReadyServer, session: ShortTurns | undefined): TurnTaker | undefined {
    if (session === undefined || ready.beside === undefined) return undefined;
    const { sampler, meter } = ready;
    if (sampler !== undefined && meter === undefined) return undefined;
    return new TurnTaker(ready, session);
  }

  /** Opens the sampler around all turns, and reads the CPU of the idle server. */
  async begin(ours: readonly number[]): Promise<void> {
    await this.#ready.sampler?.start(ours);
    this.#meter = this.#ready.meter && new TurnMeter(this.#ready.meter);
    for (const { name, meter } of this.#ready.beside ?? []) {
      const turns = whileItLives(() => new TurnMeter(meter));
      if (turns !== undefined) this.#beside.set(name, turns);
    }
  }

  /**
   * Takes one turn. Every answer has arrived when its CPU is read, so that CPU and answers belong together exactly. Work
   * of the server between its turns is counted apart. `place` is that among the turns of all servers; by default among
   * its own.
   */
  async take(
    { rampSeconds, spanSeconds }: Omit<TurnPlan, 'order'>,
    place = this.#taken.places.length,
  ): Promise<TurnResult> {
    this.#endRest();
    const turn = await this.#session.take({ rampSeconds, windowSeconds: spanSeconds });
    this.#seconds += turn.seconds;
    this.#taken.places.push(place);
    this.#taken.answers.push(turn.answers);
    this.#taken.goodputPerSecond.push(Math.round(turn.goodputPerSecond * 10) / 10);
    if (this.#meter !== undefined) this.#cpuUs.push(Math.round(this.#meter.endTurn()));
    for (const turns of this.#beside.values()) whileItLives(() => turns.endTurn());
    const memoryBytes = this.#ready.sampler?.memory?.();
    if (memoryBytes !== undefined) this.#memoryBytes.push(memoryBytes);
    return turn;
  }

  /** The turns so far. */
  get taken(): Turns {
    return {
      ...this.#taken,
      ...(this.#meter && { cpuUs: this.#cpuUs, restsCpuUs: Math.round(this.#meter.restsUs) }),
      ...(this.#memoryBytes.length === 0 ? {} : { memoryBytes: this.#memoryBytes }),
    };
  }

  /** Closes the sampler and returns the result of all turns. */
  async end(): Promise<TurnsResult> {
    this.#endRest();
    const sampled = await this.#ready.sampler?.stop();
    return {
      load: await this.#session.collect(),
      sampled:
        sampled &&
        overTurns(sampled, {
          seconds: this.#seconds,
          cpuShare: this.#meter?.shareOfTurns ?? 1,
          besideShares: Object.fromEntries(
            [...this.#beside].map(([name, turns]) => [name, turns.shareOfTurns]),
          ),
        }),
      turns: this.taken,
    };
  }

  #endRest(): void {
    this.#meter?.endRest();
    for (const turns of this.#beside.values()) whileItLives(() => turns.endRest());
  }
}

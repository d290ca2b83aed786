/** Short turns: servers are loaded in turn for a few ms each, and their CPU is read in the silence before and after. */
import { orUndefined } from 'bench-model/errors';
import type { CompanionName } from 'bench-model/companions';
import type { LoadResult } from 'bench-model/load';
import type { Turns } from 'bench-model/measured';
import { present } from 'bench-model/options';
import type { TurnPlan } from '../plan/turns.ts';
import type { ShortTurns } from 'bench-load/engine';
import type { TurnResult } from 'bench-load/protocol';
import { deferredShare, sharesOf, type TurnsCpu } from 'bench-analysis/judge/deferred';
import { CLOCK, TurnMeter, type Clock, type UpkeepMeter } from 'bench-machine/resources/cpu-meter';
import { overTurns, type Sampled } from 'bench-machine/resources/sampler';
import type { ReadyServer } from './life.ts';

interface TurnsResult {
  load: LoadResult;
  sampled: Sampled | undefined;
  turns: Turns;
}

/** The CPU of a process around turns. */
interface Turning {
  turns: TurnMeter;
  /** Undefined if only its CPU in the turns belongs to the responses. */
  upkeep: UpkeepMeter | undefined;
}

function cpuOf({ turns, upkeep }: Turning): TurnsCpu {
  return {
    turns: turns.turns,
    rests: turns.rests,
    asideUs: turns.aside.cpuUs,
    upkeepUsPerSecond: upkeep?.usPerSecond,
  };
}

/** One of the servers that take short turns. */
export class TurnTaker {
  readonly #ready: ReadyServer;
  readonly #session: ShortTurns;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #taken = {
    answers: [] as number[],
    goodputPerSecond: [] as number[],
    places: [] as number[],
  } satisfies Turns;
  readonly #cpuUs: number[] = [];
  readonly #memoryBytes: number[] = [];
  /** Undefined before `begin`, and if CPU cannot be read. */
  #server: Turning | undefined;
  /** The companions that lived at its begin. An end of theirs is no fault of the server. */
  readonly #beside = new Map<CompanionName, Turning>();
  #seconds = 0;
  #sampled: Sampled | undefined;

  private constructor(ready: ReadyServer, session: ShortTurns, clock: Pick<Clock, 'nowMs'>) {
    this.#ready = ready;
    this.#session = session;
    this.#clock = clock;
  }

  /**
   * Creates the taker of a server. Undefined if only long windows give its figures: its engine reports nothing else, or its
   * CPU or that of its companions cannot be read between turns.
   */
  static of(
    ready: ReadyServer,
    session: ShortTurns | undefined,
    clock: Pick<Clock, 'nowMs'> = CLOCK,
  ): TurnTaker | undefined {
    if (session === undefined || ready.beside === undefined) return undefined;
    if (ready.sampler !== undefined && ready.upkeep === undefined) return undefined;
    return new TurnTaker(ready, session, clock);
  }

  /** Opens the sampler around all turns, and reads the CPU of the idle server. */
  async begin(ours: readonly number[]): Promise<void> {
    await this.#ready.sampler?.start(ours);
    const { upkeep: own, beside = [] } = this.#ready;
    this.#server = own && { turns: new TurnMeter(own.meter, this.#clock), upkeep: own };
    for (const { name, pid, upkeep } of beside) {
      const turns = orUndefined(() => new TurnMeter(upkeep.meter, this.#clock));
      // What one companion of several servers does between the turns of one of them, it does for the others.
      const turning = turns && { turns, upkeep: ours.includes(pid) ? undefined : upkeep };
      if (turning !== undefined) this.#beside.set(name, turning);
    }
  }

  /**
   * Takes one turn. Every response has arrived when its CPU is read. Work of the server between its turns is counted apart.
   * `place` is that among the turns of all servers; by default among its own.
   */
  async take(
    { rampSeconds, spanSeconds }: Omit<TurnPlan, 'order'>,
    place = this.#taken.places.length,
  ): Promise<TurnResult> {
    this.#end('rests');
    const turn = await this.#session.take({ rampSeconds, windowSeconds: spanSeconds });
    this.#seconds += turn.seconds;
    this.#taken.places.push(place);
    this.#taken.answers.push(turn.answers);
    this.#taken.goodputPerSecond.push(Math.round(turn.goodputPerSecond * 10) / 10);
    const cpuUs = this.#end('turns');
    if (cpuUs !== undefined) this.#cpuUs.push(Math.round(cpuUs));
    const memoryBytes = this.#ready.sampler?.memory?.();
    if (memoryBytes !== undefined) this.#memoryBytes.push(memoryBytes);
    return turn;
  }

  get taken(): Turns {
    return {
      ...this.#taken,
      ...(this.#server && { cpuUs: this.#cpuUs, ...describeRests(cpuOf(this.#server)) }),
      ...(this.#memoryBytes.length === 0 ? {} : { memoryBytes: this.#memoryBytes }),
    };
  }

  /** Takes a step between turns whose CPU belongs to no figure, such as a login. */
  async aside<T>(step: () => Promise<T>): Promise<T> {
    this.#end('rests');
    const result = await step();
    this.#end('aside');
    return result;
  }

  /** Ends the last rest and closes the sampler. */
  async close(): Promise<void> {
    this.#end('rests');
    this.#sampled = await this.#ready.sampler?.stop();
  }

  /** Returns the result of all turns. Called once the upkeep is known. */
  async result(): Promise<TurnsResult> {
    const server = this.#server && sharesOf(cpuOf(this.#server));
    const beside = [...this.#beside].map(([name, one]) => [name, sharesOf(cpuOf(one))]);
    return {
      load: await this.#session.collect(),
      sampled:
        this.#sampled &&
        overTurns(this.#sampled, {
          seconds: this.#seconds,
          beside: Object.fromEntries(beside),
          ...present({ cpu: server }),
        }),
      turns: this.taken,
    };
  }

  /** Ends a stretch of this kind, and returns what the server has used in it. */
  #end(kind: 'turns' | 'rests' | 'aside'): number | undefined {
    const cpuUs = this.#server?.turns.end(kind);
    for (const { turns } of this.#beside.values()) orUndefined(() => turns.end(kind));
    return cpuUs;
  }
}

/** Returns what the record of a server says of the time between its turns. */
function describeRests(cpu: TurnsCpu): Pick<Turns, 'restsCpuUs' | 'upkeepUsPerSecond' | 'deferred'> {
  const { rests, upkeepUsPerSecond } = cpu;
  return {
    restsCpuUs: Math.round(rests.cpuUs),
    ...(upkeepUsPerSecond !== undefined && {
      upkeepUsPerSecond: Math.round(upkeepUsPerSecond),
      deferred: Math.round(deferredShare(cpu) * 1e4) / 1e4,
    }),
  };
}

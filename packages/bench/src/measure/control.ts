/**
 * The control: some turns of a server carry a known cost, which must be read back. A helper burns it in the accounting of the
 * server, half of it in the turns and half between them. No figure of the server includes these turns.
 */
import { deferredCpu } from 'bench-analysis/judge/deferred';
import type { ShortTurns } from 'bench-load/engine';
import type { Burner } from 'bench-machine/resources/burner';
import { type Clock, type CpuSpans, Stretches, type UpkeepMeter } from 'bench-machine/resources/cpu-meter';
import type { Control } from 'bench-model/measured';
import type { TurnPlan } from '../plan/turns.ts';

/** The least that is burnt at once, in µs: the helper disturbs the caches of the server each time that it wakes. */
const LEAST_BURN_US = 1000;

/** The rest after a turn, in seconds: the kernel accounts for the CPU of a process when it sleeps again. */
const REST_SECONDS = 0.002;

/** The turns of one kind: those with the planted cost, or those without. */
interface Kind {
  turns: CpuSpans;
  rests: CpuSpans;
  answers: number;
}

function openKind(): Kind {
  return { turns: { cpuUs: 0, seconds: 0 }, rests: { cpuUs: 0, seconds: 0 }, answers: 0 };
}

interface Controlled {
  upkeep: UpkeepMeter;
  burner: Burner;
  clock: Clock;
}

interface Planting {
  /** Half of the cost of a turn, in µs. */
  halfUs: number;
  /** The number of turns that carry it. */
  turns: number;
  /** What the helper has used before, in µs. */
  usedUs: number;
}

/** Takes turns with and without the cost of a control. */
export class ControlTaker {
  readonly #side: Controlled;
  readonly #plain = openKind();
  readonly #planted = openKind();
  /** The kind of the last turn, to which the rest after it belongs. */
  #last = this.#plain;
  readonly #stretches: Stretches;
  /** The time by which burning has made rests longer since the last plain one, in ms. */
  #longerMs = 0;
  /** What the helper has used so far, in µs. */
  #usedUs: number;
  /** Half of the cost of a turn, what is still to be burnt in turns and between them, and what was burnt, in µs. */
  readonly #halfUs: number;
  readonly #owedUs = { turns: 0, rests: 0 };
  readonly #burntUs = { turns: 0, rests: 0 };
  /** What is owed is burnt once it is this much. */
  readonly #leastUs: number;

  /** Begins to plant. Throws if the server has ended. */
  constructor(side: Controlled, { halfUs, turns, usedUs }: Planting) {
    this.#side = side;
    this.#usedUs = usedUs;
    this.#halfUs = halfUs;
    this.#leastUs = Math.min(LEAST_BURN_US, 0.99 * turns * halfUs);
    this.#stretches = new Stretches(side.upkeep.meter, side.clock);
  }

  /** Takes one turn. Returns its responses. */
  async take(
    session: ShortTurns,
    { rampSeconds, spanSeconds }: TurnPlan,
    isPlanted: boolean,
  ): Promise<number> {
    this.#stretches.endInto(this.#last.rests);
    this.#last = isPlanted ? this.#planted : this.#plain;
    const burn = async (): Promise<void> => {
      await this.#side.clock.pause(rampSeconds + spanSeconds / 4);
      await this.#pay('turns');
    };
    const taking = session.take({ rampSeconds, windowSeconds: spanSeconds });
    const [{ answers }] = await Promise.all([taking, isPlanted ? burn() : undefined]);
    this.#stretches.endInto(this.#last.turns);
    this.#last.answers += answers;
    await this.#rest(isPlanted);
    return answers;
  }

  /** Rests as long after turns of either kind: work that answers have left for later goes on meanwhile. */
  async #rest(isPlanted: boolean): Promise<void> {
    const { clock } = this.#side;
    if (isPlanted) {
      const beganMs = clock.nowMs();
      await this.#pay('rests');
      this.#longerMs += clock.nowMs() - beganMs;
      await clock.pause(REST_SECONDS);
    } else {
      await clock.pause(REST_SECONDS + this.#longerMs / 1000);
      this.#longerMs = 0;
    }
  }

  async #pay(when: 'turns' | 'rests'): Promise<void> {
    this.#owedUs[when] += this.#halfUs;
    if (this.#owedUs[when] < this.#leastUs) return;
    const usedUs = await this.#side.burner.burn(this.#owedUs[when]);
    this.#owedUs[when] -= usedUs - this.#usedUs;
    this.#burntUs[when] += usedUs - this.#usedUs;
    this.#usedUs = usedUs;
  }

  /** Ends the last rest. Returns what was planted and what was read; undefined if there was nothing to plant or to read. */
  async end(): Promise<Control | undefined> {
    this.#stretches.endInto(this.#last.rests);
    const [plain, planted] = [this.#plain, this.#planted];
    const partOf = (when: 'turns' | 'rests', usOf: (kind: Kind) => number): Control['turns'] => ({
      plainUs: usOf(plain) / plain.answers,
      plantedUs: usOf(planted) / planted.answers,
      burntUs: this.#burntUs[when] / planted.answers,
    });
    const { usPerSecond: upkeepUsPerSecond } = this.#side.upkeep;
    const turns = partOf('turns', (kind) => kind.turns.cpuUs);
    const between = partOf('rests', (kind) => deferredCpu({ ...kind, upkeepUsPerSecond }));
    const isKnown = turns.plainUs > 0 && turns.plainUs < Infinity && turns.burntUs + between.burntUs > 0;
    return isKnown ? { turns, between } : undefined;
  }
}

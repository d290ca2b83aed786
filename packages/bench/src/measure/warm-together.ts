/** Warms up the servers of a duel by turns, until none of them still changes relative to the others. */
import type { LoadResult } from '../results/record.ts';
import { findTrend, logRatios } from '../judge/trend.ts';
import { LONGEST_WARMUP_SECONDS } from '../plan/warmup.ts';
import type { CpuMeter } from '../resources/cpu-meter.ts';

/** The length of a turn in seconds: short, where each gives a ratio; else as long as all keep idle connections. */
const TURN_SECONDS = { measured: 0.125, unmeasured: 2 };
/** The ratios of the last turns that are tested for a trend. */
const TESTED = 24;
/** The load that is added while there is a trend, in seconds for each server. */
const MORE_SECONDS = 1;

/** One server of a duel. */
export interface WarmingSide {
  meter: CpuMeter | undefined;
  /** Loads it for this time, in seconds. Undefined if it has failed. */
  fire(seconds: number): Promise<LoadResult | undefined>;
}

/** The end of a warm-up. */
export interface Warmed {
  /** The time between the answers of a connection, in seconds, of the slowest server. */
  cycleSeconds: number;
  /** The change of CPU per request relative to the first server, by index, if it still changed at the end. */
  trends: (number | undefined)[];
}

/**
 * Loads each server for this time, in turns A B B A, so that none is idle for long. If the ratio of their CPU per request
 * has a trend at the end, one of them is not warm, and the load goes on: at most for the longest warm-up of a plan.
 */
export async function warmTogether(sides: readonly WarmingSide[], seconds: number): Promise<Warmed> {
  const isMeasured = sides.every(({ meter }) => meter !== undefined);
  const most = isMeasured ? TURN_SECONDS.measured : TURN_SECONDS.unmeasured;
  const count = Math.max(1, Math.ceil(seconds / most - 1e-9));
  const warming = sides.map((side) => new Warming(side));
  const load = async (turns: number, turnSeconds: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) {
      const order = turn % 2 === 0 ? warming : warming.toReversed();
      for (const one of order) await one.take(turnSeconds);
    }
  };
  const findTrends = (): (number | undefined)[] => {
    const [first] = warming;
    return warming.map(({ costs }) => findTrend(logRatios(costs, first?.costs ?? []).slice(-TESTED)));
  };
  await load(count, seconds / count);
  let trends = findTrends();
  for (
    let spent = seconds;
    isChanging(trends) && spent + MORE_SECONDS <= LONGEST_WARMUP_SECONDS;
    spent += MORE_SECONDS
  ) {
    await load(MORE_SECONDS / TURN_SECONDS.measured, TURN_SECONDS.measured);
    trends = findTrends();
  }
  return { cycleSeconds: Math.max(...warming.map((one) => one.cycleSeconds()), 0), trends };
}

function isChanging(trends: readonly (number | undefined)[]): boolean {
  return trends.some((trend) => trend !== undefined);
}

class Warming {
  /** CPU per request of each turn, in µs; NaN if it is unknown. */
  readonly costs: number[] = [];
  readonly #side: WarmingSide;
  #last: LoadResult | undefined;
  #cpuUs: number | undefined;
  #seconds = 0;

  constructor(side: WarmingSide) {
    this.#side = side;
    this.#cpuUs = this.#readUs();
  }

  async take(seconds: number): Promise<void> {
    const load = await this.#side.fire(seconds);
    const answers = (load?.lifetime?.ok ?? 0) - (this.#last?.lifetime?.ok ?? 0);
    const before = this.#cpuUs;
    this.#cpuUs = this.#readUs();
    this.costs.push(
      answers > 0 ? ((this.#cpuUs ?? Number.NaN) - (before ?? Number.NaN)) / answers : Number.NaN,
    );
    this.#last = load ?? this.#last;
    this.#seconds += seconds;
  }

  /** The time between the answers of a connection; 0 if it is unknown. */
  cycleSeconds(): number {
    const { connect, lifetime } = this.#last ?? {};
    const cycle = ((connect?.stood ?? 0) * this.#seconds) / (lifetime?.ok ?? 0);
    return Number.isFinite(cycle) ? cycle : 0;
  }

  /** Undefined once the server has ended. */
  #readUs(): number | undefined {
    try {
      return this.#side.meter?.readUs();
    } catch {
      return undefined;
    }
  }
}
